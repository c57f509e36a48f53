/** The command line is wrong. The message is one line for whoever typed it. Exit code 64 (EX_USAGE). */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** The command, or the first word of several, whose help is pointed to; that of all if absent. The usage is printed. */
  readonly command:
    | {
        readonly words: readonly string[];
        readonly usage?: string;
        /** In its place where that is long. */
        readonly shortUsage?: string;
      }
    | undefined;

  constructor(message: string, command?: UsageError["command"]) {
    super(message);
    this.command = command;
  }
}
