/** `sealgate schema`: the JSON Schema of the configuration. */
import { jsonSchema } from "../config/json-schema.ts";
import { EXIT } from "./exit.ts";

/** The text that is printed and checked in as `config/sealgate.schema.json`: two blanks of indentation, a last line end. */
export function schemaText(): string {
  return `${JSON.stringify(jsonSchema(), undefined, 2)}\n`;
}

/** Prints the schema. Returns the exit code 0. */
export async function schema(): Promise<number> {
  process.stdout.write(schemaText());
  return EXIT.ok[0];
}
