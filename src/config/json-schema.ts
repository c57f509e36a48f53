/** The JSON Schema of the configuration, and look-ups of settings by path in it. */
import * as z from "zod";
import { SECTIONS } from "./schema.ts";

/** The part of a JSON Schema that the look-ups read. */
export interface SchemaNode {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  /** Of a map with free names. */
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly oneOf?: readonly SchemaNode[];
  /** Of what has a short form: both. */
  readonly anyOf?: readonly SchemaNode[];
}

/** One step of the path of a setting: the name of a member, or the place in a list. */
export type Step = string | number;

/** The JSON Schema (draft 2020-12) of the file as operators write it. */
export function jsonSchema(): SchemaNode & Readonly<Record<string, unknown>> {
  const root = z.strictObject(SECTIONS).meta({
    title: "Sealgate configuration",
    description: "One YAML 1.2 file. Unknown settings are errors. Secrets only as { file } or { env }.",
  });
  return z.toJSONSchema(root, { io: "input", target: "draft-2020-12" }) as SchemaNode &
    Record<string, unknown>;
}

let cached: SchemaNode | undefined;

function nodesAt(path: readonly Step[]): SchemaNode[] {
  cached ??= jsonSchema();
  let nodes: SchemaNode[] = [cached];
  for (const step of path) {
    nodes = nodes
      .flatMap(formsOf)
      .map((node) =>
        typeof step === "number"
          ? node.items
          : node.properties !== undefined && Object.hasOwn(node.properties, step)
            ? node.properties[step]
            : typeof node.additionalProperties === "object"
              ? node.additionalProperties
              : undefined,
      )
      .filter((node) => node !== undefined);
  }
  return nodes.flatMap(formsOf);
}

const formsOf = (node: SchemaNode): SchemaNode[] => [node, ...(node.oneOf ?? []), ...(node.anyOf ?? [])];

/** The names of all settings that may stand directly under `path`, in the order of the schema. */
export function knownNames(path: readonly Step[]): string[] {
  return [...new Set(nodesAt(path).flatMap((node) => Object.keys(node.properties ?? {})))];
}

/** Whether a setting stands at `path` (list places as numbers). */
export function isSetting(path: readonly Step[]): boolean {
  return nodesAt(path).length > 0;
}

/** Every setting as a path, list places as 0: sections, groups and single values. */
export function allSettings(): Step[][] {
  const found: Step[][] = [];
  const walk = (path: readonly Step[]): void => {
    for (const name of knownNames(path)) {
      found.push([...path, name]);
      walk([...path, name]);
    }
    if (nodesAt(path).some((node) => node.items !== undefined)) walk([...path, 0]);
  };
  walk([]);
  return found;
}

/** A path as people read it: `routes[0].upstream.url`. */
export function printPath(path: readonly Step[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}
