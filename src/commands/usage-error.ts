/** The command line is wrong. The message is one line for whoever typed it. Exit code 64 (EX_USAGE). */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** The command whose usage is printed with it; that of all if absent. */
  readonly command: { readonly words: readonly string[]; readonly usage: string } | undefined;

  constructor(message: string, command?: UsageError["command"]) {
    super(message);
    this.command = command;
  }
}
