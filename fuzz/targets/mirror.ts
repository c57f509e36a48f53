/** The encoding of mirrored headers: one text for a header, one header for a text. */
import { decodeMirrored, encodeMirrored, isParamHeader } from "../../src/mcp/mirrored-headers.ts";
import { same, type Target } from "../target.ts";

const WORDS = [
  "=?base64?",
  "?=",
  "=?BASE64?",
  "=",
  "==",
  "eA==",
  "eA",
  "eB==",
  "w6k=",
  "/+",
  "-_",
  " ",
  "\t",
  "\u00e9",
  "\r\n",
  "\u0000",
  "a",
  ", ",
  "%20",
  "\u007f",
  "=?utf-8?q?a?=",
];
const VISIBLE = /^[\t -~]*$/;

export const mirror: Target = {
  name: "mirror",
  promise:
    "decode(encode(name)) is the name, headers hold no other characters than they may, and only exact forms decode",
  seeds: ["", "x", " a, b ", "=?base64?eA==?=", "=?base64??=", "=?base64?=", "=?base64?w6k=?="].map((text) =>
    Buffer.from(text),
  ),
  dictionary: WORDS,
  generate(random) {
    const text = Array.from({ length: random.below(6) }, () => random.pick(WORDS)).join("");
    if (random.oneIn(2)) return Buffer.from(text);
    const encoded = Buffer.concat([Buffer.from(text), random.bytes(random.below(4))]).toString("base64");
    return Buffer.from(`=?base64?${random.oneIn(8) ? encoded.replace(/=$/, "") : encoded}?=`);
  },
  check(input) {
    // As a name: what a body says.
    const name = input.toString("utf8");
    const encoded = encodeMirrored(name);
    same(VISIBLE.test(encoded), true, "characters of a header");
    same(encoded, encoded.trim(), "no white space that a reader would take off");
    same(decodeMirrored(encoded), name, "decoded again");
    // As a header: what a client sends. Node hands bytes over one by one.
    const header = input.toString("latin1");
    same(decodeMirrored(header), reference(header), "decoded");
    same(isParamHeader("mcp-param-x", header), VISIBLE.test(header), "a value that may be passed on");
    if (isParamHeader(`mcp-param-${header}`, ""))
      same(/^[!-~]+$/.test(header) && !/[:,;"(){}]/.test(header), true, "a name that may be");
  },
};

/** The rule of the specification: the exact markers, standard padded base64 in its one spelling, UTF-8; all else is itself. */
function reference(header: string): string | undefined {
  if (!VISIBLE.test(header)) return undefined;
  const text = header.replace(/^[ \t]+/, "").replace(/[ \t]+$/, "");
  const [, inner] = /^=\?base64\?(.*)$/.exec(text) ?? [];
  if (inner === undefined || !text.endsWith("?=")) return text;
  if (!inner.endsWith("?=")) return undefined;
  const bytes = Buffer.from(inner.slice(0, -2), "base64");
  if (bytes.toString("base64") !== inner.slice(0, -2)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
