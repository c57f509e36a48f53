/** What a server lists → the record: names and what tools say of themselves. Pure. */
import { isObject, type Json, own } from "../mcp/parsed.ts";
import type { Listing } from "./discovery.ts";
import type { ReviewRecord } from "./record.ts";

type Listed = NonNullable<ReviewRecord["server"]["listed"]>;

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

/** @param words redacts a text of the server */
export function recordedLists(
  { tools, prompts, resources }: Pick<Listing, "tools" | "prompts" | "resources">,
  words: (text: string) => string,
): Listed {
  const names = (entries: readonly Json[], member: "name" | "uri"): string[] =>
    entries.flatMap((entry) => {
      const name = own(entry, member);
      return typeof name === "string" ? [words(name)] : [];
    });
  return {
    tools: tools.flatMap((tool) => {
      const name = own(tool, "name");
      return typeof name === "string" ? [{ name: words(name), annotations: hintsOf(tool) }] : [];
    }),
    prompts: names(prompts, "name"),
    resources: names(resources, "uri"),
  };
}

/** The hints of the schema that say yes or no. */
function hintsOf(tool: Json): Record<string, boolean> {
  const annotations = own(tool, "annotations");
  if (!isObject(annotations)) return {};
  return Object.fromEntries(
    HINTS.flatMap((hint) => {
      const value = own(annotations, hint);
      return typeof value === "boolean" ? [[hint, value]] : [];
    }),
  );
}
