/** `sealgate keys new`: a secret for `keys.ring`. */
import { generateSecret } from "../key-secret.ts";
import { EXIT } from "./exit.ts";
import { writeNew } from "./files.ts";

/**
 * Prints a new secret, or writes it to `out` with mode 0600.
 * @returns the exit code 0
 * @throws CannotWrite when the file exists or cannot be written
 */
export async function keysNew(options: { readonly out: string | undefined }): Promise<number> {
  const secret = generateSecret();
  if (options.out === undefined) {
    process.stdout.write(`${secret}\n`);
    return EXIT.ok[0];
  }
  await writeNew(options.out, `${secret}\n`);
  process.stderr.write(`${options.out}: new secret written, readable by its owner only\n`);
  return EXIT.ok[0];
}
