/** The words behind a command → its options and its argument by name, or what is wrong with them. */
import { parseArgs } from "node:util";
import { nearest } from "../config/nearest.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./usage-error.ts";

/**
 * @param args what stands behind the words of the command
 * @returns name → value, the argument under its own name; "help" where that is asked for
 * @throws UsageError for whatever the command does not take
 */
export function readOptions(command: Command, args: readonly string[]): ReadonlyMap<string, string> | "help" {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ("boolean" as const) : ("string" as const), multiple: true },
    ]),
  );
  let values: Record<string, unknown>;
  let positionals: readonly string[];
  try {
    ({ values, positionals } = parseArgs({
      args: withoutDoubt(command, args),
      options: { ...options, help: { type: "boolean", short: "h" } },
      strict: true,
      allowPositionals: command.argument !== undefined,
    }));
  } catch (error) {
    throw new UsageError(parseFailure(error, command), command);
  }
  if (values["help"] === true) return "help";
  const given = new Map<string, string>();
  for (const [name, list] of Object.entries(values) as [string, (string | true)[]][]) {
    const [value, second] = list;
    if (second !== undefined) throw new UsageError(`--${name} is given twice`, command);
    if (value === undefined || value === "") throw new UsageError(`--${name} needs a value`, command);
    given.set(name, String(value));
  }
  const [argument, ...more] = positionals;
  if (command.argument !== undefined) {
    const { name } = command.argument;
    if (argument === undefined || argument === "") throw new UsageError(`${name} is missing`, command);
    if (more.length > 0) throw new UsageError(`more than one ${name} is given`, command);
    given.set(name, argument);
  }
  return given;
}

/** What `parseArgs` says, without its advice, and with ours. */
function parseFailure(error: unknown, command: Command): string {
  const [message = ""] = (error instanceof Error ? error.message : "").split(". ");
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL") {
    const file = Object.entries(command.options).find(([, { value }]) => value === "FILE")?.[0];
    const url = Object.hasOwn(command.options, "url") ? "url" : undefined;
    const wanted = [
      ...(file === undefined ? [] : [`--${file} FILE`]),
      ...(url === undefined ? [] : [`--${url} URL`]),
    ];
    return wanted.length === 0 ? message : `${message}, use ${wanted.join(" or ")}`;
  }
  const option = /^Unknown option '--([\w-]+)/.exec(message)?.[1];
  const near = option === undefined ? undefined : nearest(option, [...Object.keys(command.options), "help"]);
  return near === undefined ? message : `${message}, did you mean --${near}?`;
}

/** What is at least as long as a random id (22 characters), if it begins with two dashes. */
const LONG = /^--[\w-]{20,}$/;

/** Whether a word with a dash in front can only be a value: no option, and no option with a slip of the keyboard. */
function isValue(command: Command, word: string): boolean {
  if (!word.startsWith("-") || word === "-" || word === "-h") return false;
  if (!word.startsWith("--")) return true;
  return LONG.test(word) && nearest(word.slice(2), [...Object.keys(command.options), "help"]) === undefined;
}

/**
 * The same command line in words that `parseArgs` has no doubt about. Ids are base64url, so one in 64 begins with a dash:
 * behind an option that takes a value, and where the argument of a command stands, such a word is the value.
 */
function withoutDoubt(command: Command, args: readonly string[]): string[] {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const words: string[] = [];
  const behind = args.slice(end + 1);
  for (let index = 0; index < end; index += 1) {
    const word = args[index] ?? "";
    const takesValue = word.startsWith("--") && Object.hasOwn(command.options, word.slice(2));
    const next = index + 1 < end ? (args[index + 1] ?? "") : "";
    if (takesValue && command.options[word.slice(2)]?.value !== undefined) {
      words.push(isValue(command, next) ? `${word}=${next}` : word);
      if (isValue(command, next)) index += 1;
      else if (next !== "" && !next.startsWith("--") && next !== "-h") {
        words.push(next);
        index += 1;
      }
    } else if (command.argument !== undefined && isValue(command, word)) behind.unshift(word);
    else words.push(word);
  }
  return behind.length === 0 && end === args.length ? words : [...words, "--", ...behind];
}
