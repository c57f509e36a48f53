/** A configuration that a command will not edit. The message is one line for the operator. Exit code 78 (EX_CONFIG). */
export class EditRefused extends Error {
  override readonly name = "EditRefused";
}
