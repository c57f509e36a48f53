/** The configuration file itself cannot be read. The message is one line for the operator. Exit code 66 (EX_NOINPUT). */
export class ConfigFileError extends Error {
  override readonly name = "ConfigFileError";
}
