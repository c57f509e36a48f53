/**
 * What of an exchange may be shown: everything that a record holds comes through here. Tokens, states, answers and, unless the
 * operator wants them, arguments are replaced wherever they stand, also where a server repeats them; what a server gives as content
 * is shown as a shape. One state has one name over the whole record, so that a reader sees where the same one came back.
 */
import { withoutQuery } from "../log.ts";
import { decodeMirrored } from "../mcp/mirrored-headers.ts";
import { isObject, type Json, own } from "../mcp/parsed.ts";
import type { Exchange, Received } from "./exchange.ts";
import type { Plan } from "./plan.ts";
import type { RecordedExchange } from "./record.ts";

/** Headers of an answer that say something about the protocol and nothing about a person. */
const SHOWN_HEADERS: ReadonlySet<string> = new Set([
  ...["content-type", "www-authenticate", "retry-after", "allow", "cache-control", "vary", "server"],
  ...["mcp-protocol-version", "x-request-id", "access-control-allow-origin"],
]);
/** Characters of the shortest argument or answer that is looked for in other places; shorter ones would hit words. */
const LEAST = 4;
/** The same for states. */
const LEAST_STATE = 6;
const MAX_DEPTH = 12;
const MAX_ENTRIES = 100;

/** Redacts; remembers which states it has seen. */
export interface Redaction {
  exchange(exchange: Exchange): RecordedExchange;
  /** A text of ours or of a server's. */
  words(text: string): string;
}

/** @param plan whose tokens, answers and arguments are looked for */
export function createRedaction(
  plan: Pick<Plan, "tokens" | "calls" | "probe">,
  showArguments: boolean,
): Redaction {
  const secrets = new Map<string, string>();
  const add = (text: string, instead: string, least: number): void => {
    if (text.length >= least && !secrets.has(text)) secrets.set(text, instead);
  };
  for (const token of [plan.tokens.first, plan.tokens.second])
    if (token !== undefined) add(token, "(token)", 1);
  for (const call of plan.calls) {
    for (const { content, result } of Object.values(call.answers))
      for (const leaf of leaves([content, result])) add(leaf, "(answer)", LEAST);
    if (showArguments) continue;
    for (const leaf of leaves([call.arguments, call.otherArguments, call.otherTarget?.arguments]))
      add(leaf, "(argument)", LEAST);
  }
  if (!showArguments) for (const leaf of leaves(plan.probe?.arguments)) add(leaf, "(argument)", LEAST);

  let sorted: readonly (readonly [string, string])[] = [];
  const words = (text: string): string => {
    // The longest first: one may hold another.
    if (sorted.length !== secrets.size) sorted = [...secrets].sort(([a], [b]) => b.length - a.length);
    let shown = text;
    for (const [secret, instead] of sorted) shown = shown.replaceAll(secret, () => instead);
    return shown;
  };

  let states = 0;
  const names = new Map<string, string>();
  const state = (value: unknown): string => {
    if (value === undefined || value === null) return String(value ?? "(none)");
    if (typeof value !== "string") return `(state that is no text)`;
    const known = names.get(value);
    if (known !== undefined) return known;
    states += 1;
    const name = `(state ${states}, ${value.length} characters)`;
    names.set(value, name);
    add(value, name, LEAST_STATE);
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
          if (name === "arguments")
            return [name, showArguments ? inWords(value, words) : shape(value, words)];
          return [name, inWords(value, words)];
        }),
      ),
    };
  };

  const received = (given: Received): RecordedExchange["received"] => {
    const headers = shownHeaders(given.headers, words);
    if (given.kind === "none") {
      const { status, ...rest } = given;
      return { ...rest, headers, ...(status === undefined ? {} : { status }) };
    }
    if (given.kind === "error") {
      const { data, ...rest } = given;
      const told = data === undefined ? {} : { data: shape(data, words) };
      return { ...rest, headers, message: words(given.message), ...told };
    }
    // A server may write its state into a question as well.
    if (own(given.result, "requestState") !== undefined) state(own(given.result, "requestState"));
    return { ...given, headers, resultType: words(given.resultType), result: resultShape(given.result) };
  };

  const resultShape = (result: Json): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(result).map(([name, value]) => {
        if (name === "requestState") return [name, state(value)];
        if (name === "isError" && typeof value === "boolean") return [name, value];
        if (name === "resultType") return [name, inWords(value, words)];
        if (name === "inputRequests") return [name, questions(value)];
        if (
          name === "supportedVersions" ||
          name === "capabilities" ||
          name === "serverInfo" ||
          name === "_meta"
        )
          return [name, inWords(value, words)];
        return [name, shape(value, words)];
      }),
    );

  /** Questions as they are: what people are asked is what a review is about. Addresses without their query. */
  const questions = (value: unknown): unknown =>
    inWords(value, (text) =>
      words(/^https?:\/\//i.test(text) && URL.canParse(text) ? withoutQuery(text) : text),
    );

  const answers = (value: unknown): unknown => {
    if (!isObject(value)) return shape(value, words);
    return Object.fromEntries(
      Object.entries(value).map(([key, answer]) => {
        const action = isObject(answer) ? own(answer, "action") : undefined;
        const said = ["accept", "decline", "cancel"].includes(String(action)) ? { action } : {};
        const shaped = shape(answer, words);
        return [words(key), isObject(shaped) ? { ...shaped, ...said } : shaped];
      }),
    );
  };

  return {
    words,
    exchange({ number, label, sent, received: given, at, ms }) {
      // What was sent first: a state that is only known from there is then found in the answer too.
      const message = sentMessage(sent.message);
      return {
        number,
        label: words(label),
        caller: sent.caller,
        at: new Date(at).toISOString(),
        ms,
        sent: { headers: sentHeaders(sent.headers, showArguments, words), message: { ...message } },
        received: received(given),
      };
    },
  };
}

/** A value with each text in it changed. */
function inWords(value: unknown, words: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return words(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return "(deeper)";
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((item) => inWords(item, words, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_ENTRIES)
      .map(([key, inner]) => [words(key), inWords(inner, words, depth + 1)]),
  );
}

/** What kind of value stands where, and none of them. */
function shape(value: unknown, words: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return `(text of ${value.length})`;
  if (typeof value === "number") return "(number)";
  if (typeof value !== "object" || value === null) return value === null ? null : `(${typeof value})`;
  if (depth > MAX_DEPTH) return "(deeper)";
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((item) => shape(item, words, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_ENTRIES)
      .map(([key, inner]) => [words(key), shape(inner, words, depth + 1)]),
  );
}

/** Texts and long numbers in a value. */
function leaves(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(leaves);
}

function shownHeaders(
  headers: Readonly<Record<string, string>>,
  words: (text: string) => string,
): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => SHOWN_HEADERS.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, words(value)]));
}

function sentHeaders(
  headers: Readonly<Record<string, string>>,
  showArguments: boolean,
  words: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (name.startsWith("mcp-param-") && !showArguments) return [name, "(argument)"];
      return [name, words(decodeMirrored(value) ?? value)];
    }),
  );
}
