/** What `sealgate init` cannot work with. The message is one line for the operator and repeats nothing a server said. */
export class Unsuitable extends Error {
  override readonly name = "Unsuitable";
}
