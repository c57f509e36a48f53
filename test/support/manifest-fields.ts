/**
 * Unknown fields of Kubernetes objects: the schemas take any, and a real server drops them without a word. The known ones
 * are read from the type declarations of kubernetes-models, one interface per file.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./markdown.ts";

const MODULES = join(ROOT, "node_modules");

/** One interface: a member → its type as written. `undefined` for types that are no interface, such as quantities. */
interface Shape {
  readonly members: ReadonlyMap<string, string>;
  /** Alias of an imported type → the file it is declared in. */
  readonly imports: ReadonlyMap<string, string>;
}

const shapes = new Map<string, Shape | undefined>();

function shapeOf(file: string): Shape | undefined {
  if (!shapes.has(file)) shapes.set(file, readShape(file));
  return shapes.get(file);
}

function readShape(file: string): Shape | undefined {
  const text = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
  const body = /^export interface \w+ [^\n]*\{\n([\s\S]*?)^\}/m.exec(text)?.[1];
  if (body === undefined) return undefined;
  const members = new Map(
    [...body.matchAll(/^ {4}"([^"]+)"\??: (\{[\s\S]*?\n {4}\}|[^\n]*);$/gm)].map(
      ([, name = "", type = ""]) => [name, type],
    ),
  );
  const imports = new Map(
    [...text.matchAll(/^import \{ (\w+) \} from "([^"]+)";$/gm)].map(([, alias = "", from = ""]) => [
      alias,
      from.startsWith(".")
        ? join(dirname(file), from.replace(/\.js$/, ".d.ts"))
        : join(MODULES, `${from}.d.ts`),
    ]),
  );
  return { members, imports };
}

/** Fields of a value that its type does not have, by path. */
function unknownIn(value: unknown, type: string, shape: Shape, path: string): string[] {
  if (typeof value !== "object" || value === null) return [];
  const element = /^Array<(\w+)>$/.exec(type)?.[1];
  if (Array.isArray(value)) {
    return element === undefined
      ? []
      : value.flatMap((item, index) => unknownIn(item, element, shape, `${path}[${index}]`));
  }
  const mapped = /^\{\s*\[key: string\]: (\w+);\s*\}$/.exec(type)?.[1];
  if (mapped !== undefined) {
    return Object.entries(value).flatMap(([key, item]) => unknownIn(item, mapped, shape, `${path}.${key}`));
  }
  const file = shape.imports.get(type);
  if (file === undefined) throw new Error(`${path}: a type that is not understood: ${type}`);
  const inner = shapeOf(file);
  return inner === undefined ? [] : unknownMembers(value, inner, path);
}

function unknownMembers(object: object, shape: Shape, path: string): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const type = shape.members.get(name);
    return type === undefined ? [at] : unknownIn(value, type, shape, at);
  });
}

/**
 * The fields of an object that its kind does not have.
 * @throws Error for a kind that the package does not have
 */
export function unknownFields(object: { readonly apiVersion: string; readonly kind: string }): string[] {
  // The folders of the package are named as versions are: apps/v1, v1.
  const file = join(MODULES, "kubernetes-models", object.apiVersion, `${object.kind}.d.ts`);
  const shape = existsSync(file) ? shapeOf(file) : undefined;
  if (shape === undefined) throw new Error(`no such kind: ${object.apiVersion} ${object.kind}`);
  return unknownMembers(object, shape, "");
}
