/** What a command is: words, options, help, exit codes, and a module that does the work and loads when it runs. */
import type { EXIT } from "./exit.ts";
import { UsageError } from "./usage-error.ts";

/** One command. */
export interface Command {
  readonly words: readonly string[];
  readonly usage: string;
  /** What is printed of it after a mistake, where the whole is long. */
  readonly shortUsage?: string;
  readonly summary: string;
  readonly details: readonly string[];
  /** What stands without an option, if the command takes that; it must be given, under this name in `run`. */
  readonly argument?: { readonly name: string; readonly text: string };
  /** Name without dashes → the placeholder of its value (none for a switch), and what it does. Each at most once. */
  readonly options: Readonly<Record<string, { readonly value?: string; readonly text: string }>>;
  /** The codes it can end with; with its own words where those of all commands say more than it does. */
  readonly exits: readonly (keyof typeof EXIT | readonly [keyof typeof EXIT, string])[];
  /** @returns the exit code */
  run(given: ReadonlyMap<string, string>): Promise<number>;
}

/** The option that most commands have. */
export const CONFIG = { value: "FILE", text: "The configuration, one YAML file." } as const;

/** The file given by it. @throws UsageError where there is none */
export function configOf(given: ReadonlyMap<string, string>, command: string): string {
  const config = given.get("config");
  if (config === undefined) throw new UsageError(`${command} needs --config FILE`);
  return config;
}
