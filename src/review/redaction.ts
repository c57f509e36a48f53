/**
 * What of an exchange may be shown: everything that a record holds comes through here. Tokens, states, answers and, unless the
 * operator wants them, arguments are replaced wherever they stand, also where a server repeats them; what a server gives as content
 * is shown as a shape. One state has one name over the whole record, so that a reader sees where the same one came back.
 */
import { withoutQuery } from "../log.ts";
import { decodeMirrored } from "../mcp/mirrored-headers.ts";
import { isObject, type Json, own } from "../mcp/parsed.ts";
import { INVENTED } from "./check.ts";
import type { Exchange, Received } from "./exchange.ts";
import type { Plan } from "./plan.ts";
import type { RecordedExchange } from "./record.ts";

/** Headers of an answer that say something about the protocol and nothing about a person. */
const SHOWN_HEADERS: ReadonlySet<string> = new Set([
  ...["content-type", "www-authenticate", "retry-after", "allow", "cache-control", "vary", "server"],
  ...["mcp-protocol-version", "x-request-id", "access-control-allow-origin"],
]);
/** Characters from which on a secret is looked for anywhere; shorter ones as whole words, and only in what a server wrote. */
const LONG = 6;
/** Members of results that hold words of the protocol. */
const OF_THE_PROTOCOL: ReadonlySet<string> = new Set([
  ...["resultType", "supportedVersions", "capabilities", "serverInfo", "_meta", "ttlMs", "cacheScope"],
]);
/** Characters of the longest text of a server in a finding. */
const MAX_QUOTED = 200;
/** A text as JSON writes it. */
const QUOTED = /"(?:[^"\\]|\\.)*"/g;
/** Characters of the longest text that is shown at all. */
const MAX_TEXT = 16_384;
const MAX_DEPTH = 12;
const MAX_ENTRIES = 100;

/** Redacts; remembers which states it has seen. */
export interface Redaction {
  exchange(exchange: Exchange): RecordedExchange;
  /** A text that a server wrote. */
  words(text: string): string;
  /** The name of something, or a word of the protocol, as a server wrote it. */
  ours(text: string): string;
  /** What the reviewer wrote of what it found. Its own words stay; in quotation marks stands what a server wrote. */
  found(text: string): string;
}

/** @param plan whose tokens, answers and arguments are looked for */
export function createRedaction(
  plan: Pick<Plan, "tokens" | "calls" | "probe">,
  showArguments: boolean,
): Redaction {
  const secrets = new Map<string, string>();
  const add = (text: string, instead: string): void => {
    if (text !== "" && !secrets.has(text)) secrets.set(text, instead);
  };
  for (const token of [plan.tokens.first, plan.tokens.second]) if (token !== undefined) add(token, "(token)");
  for (const call of plan.calls) {
    for (const { content, result } of Object.values(call.answers))
      for (const leaf of leaves([content, result])) add(leaf, "(answer)");
    if (showArguments) continue;
    for (const leaf of leaves([call.arguments, call.otherArguments, call.otherTarget?.arguments]))
      add(leaf, "(argument)");
  }
  if (!showArguments) for (const leaf of leaves(plan.probe?.arguments)) add(leaf, "(argument)");

  const names = new Map<string, string>();
  let states = 0;
  /** States that are looked for in other places, the longest first: one may hold another. */
  let long: (readonly [state: string, name: string])[] = [];
  let isSorted = true;
  const known = [...secrets].sort(([a], [b]) => b.length - a.length);
  const tokens = known.filter(([, instead]) => instead === "(token)");
  /** States and tokens, which are no words of anybody. */
  const withoutStates = (text: string): string => {
    if (text.length > MAX_TEXT) return `(text of ${text.length})`;
    let shown = text;
    if (!isSorted) long = long.sort(([a], [b]) => b.length - a.length);
    isSorted = true;
    // States are many, and longer than most texts.
    if (text.length >= (long.at(-1)?.[0].length ?? Number.POSITIVE_INFINITY))
      for (const [value, name] of long) shown = shown.replaceAll(value, () => name);
    for (const [secret, instead] of tokens)
      if (secret.length >= LONG) shown = shown.replaceAll(secret, () => instead);
    return shown;
  };
  const replaced = (text: string, isOurs: boolean): string => {
    if (isOurs && text.startsWith(INVENTED) && text.length <= MAX_TEXT) return text;
    let shown = withoutStates(text);
    if (text.length > MAX_TEXT) return shown;
    for (const [secret, instead] of known) {
      if (secret.length >= LONG) shown = shown.replaceAll(secret, () => instead);
      else if (!isOurs && shown.includes(secret)) shown = shown.replace(wholeWord(secret), () => instead);
    }
    return shown;
  };
  /** What a server wrote. */
  const words = (text: string): string => replaced(text, false);
  /** Names, and what the protocol has words for. */
  const ours = (text: string): string => replaced(text, true);
  const found = (text: string): string =>
    withoutStates(
      text.replaceAll(QUOTED, (inQuotes) => {
        const shown = words(unquoted(inQuotes));
        return JSON.stringify(shown.length > MAX_QUOTED ? `${shown.slice(0, MAX_QUOTED)}…` : shown);
      }),
    );

  const state = (value: unknown): string => {
    if (value === undefined || value === null) return String(value ?? "(none)");
    if (typeof value !== "string") return `(state that is no text)`;
    const known = names.get(value);
    if (known !== undefined) return known;
    states += 1;
    const name = `(state ${states}, ${value.length} characters)`;
    names.set(value, name);
    // What the reviewer made up is no secret.
    if (value.length >= LONG && !value.startsWith(INVENTED)) {
      long.push([value, name]);
      isSorted = false;
    }
    return name;
  };

  const sentMessage = (message: Json): Json => {
    const params = own(message, "params");
    if (!isObject(params)) return { ...message };
    return {
      ...message,
      params: Object.fromEntries(
        Object.entries(params).map(([name, value]) => {
          if (name === "requestState") return [name, state(value)];
          if (name === "inputResponses") return [name, answers(value)];
          if (name === "arguments") return [name, showArguments ? inWords(value, ours) : shape(value, ours)];
          // Names of targets stand in the plan, and what the reviewer says of itself is its own.
          if (["name", "uri", "_meta"].includes(name)) return [name, inWords(value, withoutStates)];
          return [name, inWords(value, ours)];
        }),
      ),
    };
  };

  const received = (given: Received): RecordedExchange["received"] => {
    const headers = shownHeaders(given.headers, ours);
    if (given.kind === "none") {
      const { status, ...rest } = given;
      return { ...rest, headers, ...(status === undefined ? {} : { status }) };
    }
    if (given.kind === "error") {
      const { data, ...rest } = given;
      const told = data === undefined ? {} : { data: shape(data, ours) };
      return { ...rest, headers, message: words(given.message), ...told };
    }
    // A server may write its state into a question as well.
    if (own(given.result, "requestState") !== undefined) state(own(given.result, "requestState"));
    return { ...given, headers, resultType: ours(given.resultType), result: resultShape(given.result) };
  };

  const resultShape = (result: Json): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(result).map(([name, value]) => {
        if (name === "requestState") return [name, state(value)];
        if (name === "isError" && typeof value === "boolean") return [name, value];
        if (name === "inputRequests") return [name, questions(value)];
        if (OF_THE_PROTOCOL.has(name)) return [name, inWords(value, ours)];
        return [name, shape(value, ours)];
      }),
    );

  /** Questions as they are: what people are asked is what a review is about. Addresses without their query. */
  const questions = (value: unknown): unknown =>
    inWords(
      value,
      (text) => words(/^https?:\/\//i.test(text) && URL.canParse(text) ? withoutQuery(text) : text),
      ours,
    );

  const answers = (value: unknown): unknown => {
    if (!isObject(value)) return shape(value, ours);
    return Object.fromEntries(
      Object.entries(value).map(([key, answer]) => {
        const action = isObject(answer) ? own(answer, "action") : undefined;
        const said = ["accept", "decline", "cancel"].includes(String(action)) ? { action } : {};
        const shaped = shape(answer, ours);
        return [ours(key), isObject(shaped) ? { ...shaped, ...said } : shaped];
      }),
    );
  };

  return {
    words,
    ours,
    found,
    exchange({ number, label, sent, received: given, at, ms }) {
      // What was sent first: a state that is only known from there is then found in the answer too.
      const message = sentMessage(sent.message);
      return {
        number,
        label,
        caller: sent.caller,
        at: new Date(at).toISOString(),
        ms,
        sent: { headers: sentHeaders(sent.headers, showArguments, withoutStates), message: { ...message } },
        received: received(given),
      };
    },
  };
}

type Words = (text: string) => string;

/** What stands in quotation marks as JSON writes it; what JSON would not write so is left as it is. */
function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}

/** A value with each text in it changed, and each name. */
function inWords(value: unknown, words: Words, names: Words = words, depth = 0): unknown {
  if (typeof value === "string") return words(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return "(deeper)";
  if (Array.isArray(value))
    return value.slice(0, MAX_ENTRIES).map((item) => inWords(item, words, names, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_ENTRIES)
      .map(([key, inner]) => [names(key), inWords(inner, words, names, depth + 1)]),
  );
}

/** What kind of value stands where, and none of them. */
function shape(value: unknown, words: Words, depth = 0): unknown {
  if (typeof value === "string") return `(text of ${value.length})`;
  if (typeof value === "number") return "(number)";
  if (typeof value !== "object" || value === null) return value === null ? null : `(${typeof value})`;
  if (depth > MAX_DEPTH) return "(deeper)";
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((item) => shape(item, words, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_ENTRIES)
      .map(([key, inner]) => [words(key), isKind(key, inner) ? inner : shape(inner, words, depth + 1)]),
  );
}

/** Whether a member says of what kind a block of content is, in a word of the protocol. */
function isKind(key: string, value: unknown): boolean {
  return key === "type" && ["text", "image", "audio", "resource", "resource_link"].includes(String(value));
}

function wholeWord(text: string): RegExp {
  const exact = Array.from(text, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join("");
  return new RegExp(`(?<![\\p{L}\\p{N}_])${exact}(?![\\p{L}\\p{N}_])`, "gu");
}

/** Texts and numbers in a value. */
function leaves(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(leaves);
}

function shownHeaders(headers: Readonly<Record<string, string>>, words: Words): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => SHOWN_HEADERS.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, words(value)]));
}

function sentHeaders(
  headers: Readonly<Record<string, string>>,
  showArguments: boolean,
  words: Words,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (name.startsWith("mcp-param-") && !showArguments) return [name, "(argument)"];
      return [name, words(decodeMirrored(value) ?? value)];
    }),
  );
}
