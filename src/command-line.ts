/**
 * argv → command → exit code. Owns the help texts and what a failed command prints: one line for whoever can put it
 * right, never a stack for a mistake of the operator. Decides nothing else.
 */
import type { Command } from "./commands/command.ts";
import { COMMANDS } from "./commands/commands.ts";
import { EXIT } from "./commands/exit.ts";
import { CannotWrite } from "./commands/files.ts";
import { readOptions } from "./commands/given-options.ts";
import { UsageError } from "./commands/usage-error.ts";
import { ConfigFileError } from "./config/config-file.ts";
import { EditRefused } from "./config/edit-refused.ts";
import { nearest } from "./config/nearest.ts";
import { ConfigError } from "./errors.ts";
import { programVersion } from "./program-version.ts";

function usage(): string {
  const lines = COMMANDS.map((command) => `  sealgate ${command.usage}\n      ${command.summary}`);
  return ["Usage:", ...lines, "  sealgate version", "  sealgate help [COMMAND]", ""].join("\n");
}

function overview(): string {
  return [
    "sealgate: a reverse proxy that makes MCP Multi Round-Trip Requests safe",
    "",
    usage(),
    "Exit codes:",
    ...Object.values(EXIT).map(([code, meaning]) => `  ${String(code).padStart(2)}  ${meaning}`),
    "",
  ].join("\n");
}

function help(command: Command): string {
  const options = Object.entries(command.options).map(([name, { value, text }]) => ({
    name: `--${name}${value === undefined ? "" : ` ${value}`}`,
    text,
  }));
  if (command.argument !== undefined) options.unshift(command.argument);
  options.push({ name: "--help", text: "Print this." });
  const width = Math.max(...options.map((option) => option.name.length));
  return [
    `Usage: sealgate ${command.usage}`,
    "",
    command.summary,
    ...(command.details.length === 0 ? [] : ["", ...command.details]),
    "",
    "Options:",
    ...options.map((option) => `  ${option.name.padEnd(width)}  ${option.text}`),
    "",
    "Exit codes:",
    ...command.exits.map((exit) => {
      const [name, words] = typeof exit === "string" ? [exit, undefined] : exit;
      const [code, meaning] = EXIT[name];
      return `  ${String(code).padStart(2)}  ${words ?? meaning}`;
    }),
    "",
  ].join("\n");
}

function find(args: readonly string[]): { command: Command; rest: string[] } | undefined {
  const command = COMMANDS.find(({ words }) => words.every((word, index) => args[index] === word));
  return command === undefined ? undefined : { command, rest: args.slice(command.words.length) };
}

function unknown(args: readonly string[]): UsageError {
  const [word = "", second] = args;
  const groups = COMMANDS.filter(({ words }) => words[0] === word && words.length > 1);
  if (groups.length > 0) {
    const names = groups.map(({ words }) => words.join(" ")).join(", ");
    const near = nearest(
      second ?? "",
      groups.map(({ words }) => words[1] ?? ""),
    );
    const hint = near === undefined ? "found another word" : `did you mean ${word} ${near}?`;
    return new UsageError(`${word} needs one of: ${names}${second === undefined ? "" : `, ${hint}`}`, {
      words: [word],
    });
  }
  if (word.startsWith("-")) return new UsageError("a command comes first");
  const near = nearest(word, [...new Set(COMMANDS.map(({ words }) => words[0] ?? "")), "help", "version"]);
  return new UsageError(`unknown command${near === undefined ? "" : `, did you mean ${near}?`}`);
}

async function dispatch(args: readonly string[]): Promise<number> {
  const [first, second] = args;
  if (first === "help" && second !== undefined && second !== "help") {
    return dispatch([...args.slice(1).filter((word) => word !== "--help"), "--help"]);
  }
  if (first === "--version" || first === "version") {
    process.stdout.write(`${programVersion()}\n`);
    return EXIT.ok[0];
  }
  if (first === "--help" || first === "-h" || first === "help") {
    process.stdout.write(overview());
    return EXIT.ok[0];
  }
  if (first === undefined) throw new UsageError("a command is missing");
  const found = find(args);
  if (found === undefined) {
    const group = COMMANDS.filter(({ words }) => words[0] === first);
    if (group.length === 0 || !["--help", "-h", "help"].includes(second ?? "")) throw unknown(args);
    process.stdout.write(group.map(help).join("\n"));
    return EXIT.ok[0];
  }
  const given = readOptions(found.command, found.rest);
  if (given === "help") {
    process.stdout.write(help(found.command));
    return EXIT.ok[0];
  }
  try {
    return await found.command.run(given);
  } catch (error) {
    // What a command finds wrong with its options is shown with its usage.
    throw error instanceof UsageError ? new UsageError(error.message, found.command) : error;
  }
}

/** What a failure prints, and its exit code. A stack only for what is a fault of this program. */
function explain(error: unknown): { readonly text: string; readonly code: number } {
  if (error instanceof UsageError) {
    const { words = [], usage, shortUsage: form = usage } = error.command ?? {};
    const lines = [
      `sealgate: ${error.message}`,
      ...(form === undefined ? [] : [`Usage: sealgate ${form}`]),
      `More: ${["sealgate", ...words, "--help"].join(" ")}`,
    ];
    return { text: `${lines.join("\n")}\n`, code: EXIT.usage[0] };
  }
  if (error instanceof ConfigError) {
    const count = error.problems.length;
    const last = `sealgate: ${count} problem${count === 1 ? "" : "s"} in ${error.subject}`;
    const warnings = error.warnings.map((warning) => `warning: ${warning}\n`).join("");
    return { text: `${warnings}${error.message}\n${last}\n`, code: EXIT.config[0] };
  }
  if (error instanceof ConfigFileError) return { text: `sealgate: ${error.message}\n`, code: EXIT.input[0] };
  if (error instanceof EditRefused) return { text: `sealgate: ${error.message}\n`, code: EXIT.config[0] };
  if (error instanceof CannotWrite) return { text: `sealgate: ${error.message}\n`, code: EXIT.create[0] };
  // The operating system refused something: an address in use, a folder that may not be written.
  if (error instanceof Error && "syscall" in error) {
    return { text: `sealgate: ${error.message}\n`, code: EXIT.unavailable[0] };
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    text: `sealgate: this is a fault of the program, please report it\n${stack}\n`,
    code: EXIT.fault[0],
  };
}

/**
 * Runs one command line.
 * @param args without the interpreter and the script
 * @returns the exit code; never throws
 */
export async function run(args: readonly string[]): Promise<number> {
  // A reader that stops early (`sealgate schema | head`) is no failure of ours.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? EXIT.ok[0] : EXIT.fault[0]);
  });
  // What cannot be told on standard error can be told nowhere; the exit code still says it.
  process.stderr.on("error", () => undefined);
  try {
    return await dispatch(args);
  } catch (error) {
    const { text, code } = explain(error);
    process.stderr.write(text);
    return code;
  }
}
