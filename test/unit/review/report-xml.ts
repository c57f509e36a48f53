/** A strict reader of the XML that reports are made of: elements, attributes in double quotes, texts, decimal references; nothing else. */

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly inner: readonly XmlElement[];
  readonly text: string;
}

const TOKEN =
  /<(?<close>\/)?(?<name>[a-z][a-z-]*)(?<attributes>(?: [a-z]+="(?:[^<>&"]|&#\d+;)*")*)(?<empty>\/)?>|(?<text>(?:[^<>&]|&#\d+;)+)/guy;
/** What XML 1.0 lets stand in a document (2.2). */
const CHARACTERS = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

/** @throws Error if it is not well-formed, or more than reports need */
export function parseXml(document: string): XmlElement {
  if (!CHARACTERS.test(document)) throw new Error("a character that XML does not have");
  const body = document.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, "");
  const top = { name: "", attributes: {}, inner: [] as XmlElement[], text: "" };
  const open = [top];
  let at = 0;
  for (const { 0: token, index, groups = {} } of body.matchAll(TOKEN)) {
    if (index !== at) break;
    at += token.length;
    const current = open.at(-1) as typeof top;
    const { name, text, close, empty, attributes } = groups;
    if (name === undefined) current.text += text === undefined ? "" : read(text);
    else if (close !== undefined) {
      if (current.name !== name || attributes !== "") throw new Error(`</${name}> closes <${current.name}>`);
      open.pop();
    } else {
      const element = { name, attributes: attributesOf(attributes ?? ""), inner: [], text: "" };
      current.inner.push(element);
      if (empty === undefined) open.push(element);
    }
  }
  if (at !== body.length) throw new Error(`no XML at ${at}: ${body.slice(at, at + 40)}`);
  const [root, ...others] = top.inner;
  if (open.length !== 1 || root === undefined || others.length > 0 || top.text.trim() !== "")
    throw new Error("not one element");
  return root;
}

function attributesOf(text: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const [, name = "", value = ""] of text.matchAll(/ ([a-z]+)="([^"]*)"/g)) {
    if (name in attributes) throw new Error(`${name} twice`);
    attributes[name] = read(value);
  }
  return attributes;
}

const read = (text: string): string =>
  text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
