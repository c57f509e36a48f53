/** Reads what an MCP server offers: `server/discover`, and all pages of the lists it says it has. */
import { withoutQuery } from "../log.ts";
import { MODERN_VERSION } from "../mcp/era.ts";
import { LIST_METHODS } from "../mcp/methods.ts";
import { type Catalogue, type Entry, type ListName, readEntry } from "./catalogue.ts";
import { Unsuitable } from "./unsuitable.ts";
import { type Answer, RpcError, revisions, type Wire } from "./wire.ts";

/** Entries and pages of one list that are read; a list that goes on is cut there, and the operator is told. */
const MAX_ENTRIES = 2_000;
const MAX_PAGES = 200;
const MAX_CURSOR_CHARACTERS = 8_192;
const METHOD_NOT_FOUND = -32_601;
const UNSUPPORTED_VERSION = -32_022;

/** List → its method, and the capability that announces it. */
const LISTS: readonly (readonly [list: ListName, method: string, capability: string])[] = [
  ["tools", "tools/list", "tools"],
  ["prompts", "prompts/list", "prompts"],
  ["resources", "resources/list", "resources"],
  ["templates", "resources/templates/list", "resources"],
];

/**
 * @param url of the server, for messages
 * @throws Unsuitable when it is no MCP server of revision 2026-07-28, or one of its lists cannot be had
 */
export async function survey(wire: Wire, url: string): Promise<Catalogue> {
  const at = withoutQuery(url);
  const { doc, result } = await discover(wire, at);
  const offered = revisions(doc, doc.get(result, "supportedVersions"));
  if (!offered.includes(MODERN_VERSION)) throw new Unsuitable(otherRevision(at, offered));
  const capabilities = doc.get(result, "capabilities");
  const has = (name: string): boolean => doc.get(capabilities, name) !== undefined;
  const lists: Record<ListName, readonly Entry[]> = { tools: [], prompts: [], resources: [], templates: [] };
  const cut = new Set<ListName>();
  for (const [list, method, capability] of LISTS) {
    if (!has(capability)) continue;
    const read = await readList(wire, method, at);
    lists[list] = read.entries;
    if (read.cut) cut.add(list);
  }
  return { ...lists, completions: has("completions"), cut };
}

async function discover(wire: Wire, at: string): Promise<Answer> {
  try {
    return await wire.ask("server/discover");
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (error.code === UNSUPPORTED_VERSION) throw new Unsuitable(otherRevision(at, error.supported));
    throw new Unsuitable(
      `${at}: does not know server/discover (error ${error.code}), so it speaks only revisions before ${MODERN_VERSION}, which have no states to seal; ` +
        "`sealgate serve --upstream URL` relays such a server without a file",
    );
  }
}

function otherRevision(at: string, offered: readonly string[]): string {
  const what = offered.length === 0 ? "names no revision" : `speaks ${offered.join(", ")}`;
  return `${at}: ${what}, Sealgate needs ${MODERN_VERSION}`;
}

/** All entries of a list, page by page. */
async function readList(
  wire: Wire,
  method: string,
  at: string,
): Promise<{ readonly entries: readonly Entry[]; readonly cut: boolean }> {
  const shape = LIST_METHODS.get(method);
  if (shape === undefined) throw new Error(`${method} is no list`);
  const entries: Entry[] = [];
  const cursors = new Set<string>();
  let cut = false;
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const answer = await askPage(wire, method, cursor, at);
    if (answer === undefined) return { entries, cut };
    const { doc, result } = answer;
    const array = doc.get(result, shape.items);
    if (array === undefined || doc.kind(array) !== "array") {
      throw new Unsuitable(`${at}: the result of ${method} holds no list`);
    }
    for (const item of doc.items(array)) {
      const entry = entries.length < MAX_ENTRIES ? readEntry(doc, item, shape) : undefined;
      if (entry === undefined) cut = true;
      else entries.push(entry);
    }
    const next = doc.present(result, "nextCursor");
    if (next === undefined) return { entries, cut };
    cursor = doc.end(next) - doc.start(next) <= MAX_CURSOR_CHARACTERS ? doc.text(next) : undefined;
    // A cursor that was seen before leads round in a circle.
    const goesOn =
      cursor !== undefined && !cursors.has(cursor) && page < MAX_PAGES && entries.length < MAX_ENTRIES;
    if (!goesOn) return { entries, cut: true };
    cursors.add(cursor ?? "");
  }
}

/** One page; undefined where the server has no such list after all. */
async function askPage(
  wire: Wire,
  method: string,
  cursor: string | undefined,
  at: string,
): Promise<Answer | undefined> {
  try {
    return await wire.ask(method, cursor === undefined ? {} : { cursor });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (error.code === METHOD_NOT_FOUND && cursor === undefined) return undefined;
    throw new Unsuitable(`${at}: answers ${method} with error ${error.code}`);
  }
}
