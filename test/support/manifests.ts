/**
 * The manifests under kubernetes/, rendered. By `kubectl kustomize` where there is one that is new enough; and, for what
 * only adds up, by the small part of kustomize that it takes: resources, a generated ConfigMap, names of images.
 */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse, parseAllDocuments } from "yaml";
import { onPath } from "./debian.ts";
import { ROOT } from "./markdown.ts";

const run = promisify(execFile);

/** An object as the API takes it; tests look wherever they like. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
  readonly [member: string]: any;
}

/** The folder of an overlay. */
export const overlay = (name: string): string => join(ROOT, "kubernetes/overlays", name);

/** Every object of a YAML text. */
export function objectsOf(yaml: string): Manifest[] {
  return parseAllDocuments(yaml).map((document) => {
    const [fault] = [...document.errors, ...document.warnings];
    if (fault !== undefined) throw fault;
    return document.toJS() as Manifest;
  });
}

/** A kubectl whose kustomize is version 5 or later; undefined where there is none. */
export async function kubectl(): Promise<string | undefined> {
  const found = onPath("kubectl");
  if (found === undefined) return undefined;
  try {
    const { stdout } = await run(found, ["version", "--client", "--output", "json"]);
    const { kustomizeVersion = "" } = JSON.parse(stdout) as { kustomizeVersion?: string };
    return Number(/^v(\d+)\./.exec(kustomizeVersion)?.[1] ?? 0) >= 5 ? found : undefined;
  } catch {
    return undefined;
  }
}

/** What `kubectl kustomize` makes of a folder. */
export async function renderWith(kubectl: string, folder: string): Promise<Manifest[]> {
  const { stdout } = await run(kubectl, ["kustomize", folder], { maxBuffer: 4 * 1024 * 1024 });
  return objectsOf(stdout);
}

interface Kustomization {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resources?: readonly string[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly files: readonly string[] }[];
  readonly generatorOptions?: {
    readonly disableNameSuffixHash?: boolean;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly images?: readonly { readonly name: string; readonly newName: string; readonly newTag: string }[];
}

const UNDERSTOOD = new Set([
  "apiVersion",
  "kind",
  "resources",
  "configMapGenerator",
  "generatorOptions",
  "images",
]);

/**
 * Renders a folder that only adds up.
 * @throws Error for anything in its kustomization that is not understood here
 */
export function render(folder: string): Manifest[] {
  const file = join(folder, "kustomization.yaml");
  if (!existsSync(file)) throw new Error(`no kustomization in ${folder}`);
  const kustomization = parse(readFileSync(file, "utf8")) as Kustomization;
  const odd = Object.keys(kustomization).filter((key) => !UNDERSTOOD.has(key));
  if (odd.length > 0) throw new Error(`${file}: not understood here: ${odd.join(", ")}`);
  const { resources = [], configMapGenerator = [], generatorOptions = {}, images = [] } = kustomization;
  const added = resources.flatMap((name) =>
    name.endsWith(".yaml") ? objectsOf(readFileSync(join(folder, name), "utf8")) : render(join(folder, name)),
  );
  const generated = configMapGenerator.map(({ name, files, ...more }): Manifest => {
    if (Object.keys(more).length > 0 || generatorOptions.disableNameSuffixHash !== true) {
      throw new Error(`${file}: a generator that is not understood here`);
    }
    const data = Object.fromEntries(files.map((part) => [part, readFileSync(join(folder, part), "utf8")]));
    const { labels } = generatorOptions;
    return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...(labels && { labels }) }, data };
  });
  const objects = [...added, ...generated];
  for (const container of objects.flatMap(containersOf)) {
    const image = images.find(({ name }) => name === container.image);
    if (image !== undefined) container.image = `${image.newName}:${image.newTag}`;
  }
  return objects;
}

/** All containers of a Deployment, init containers first; none for any other object. */
// biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
export function containersOf({ kind, spec }: Manifest): any[] {
  return kind === "Deployment"
    ? [...(spec.template.spec.initContainers ?? []), ...spec.template.spec.containers]
    : [];
}

/** The one object of a kind and name. */
export function only(objects: readonly Manifest[], kind: string, name = "sealgate"): Manifest {
  const [first, ...more] = objects.filter((one) => one.kind === kind && one.metadata.name === name);
  if (first === undefined || more.length > 0) throw new Error(`${more.length + 1} of ${kind} ${name}`);
  return first;
}

type Labels = Readonly<Record<string, string>>;

/** Whether a selector names pods with these labels; an empty one names all, and is no way to name any. */
export const covers = (labels: Labels, selector: Labels): boolean =>
  Object.entries(selector).length > 0 &&
  Object.entries(selector).every(([name, value]) => labels[name] === value);

/** Takes what must be true, in words. */
export type Expect = (isTrue: boolean, what: string) => void;

/** The gateway's container in a rendered form, and what surrounds it. */
export function partsOf(objects: readonly Manifest[]) {
  const deployment = only(objects, "Deployment");
  const pod = deployment["spec"].template.spec;
  const containers = containersOf(deployment);
  const gateway = containers.find(({ name }) => name === "sealgate");
  const text: string = only(objects, "ConfigMap", "sealgate-config")["data"]["sealgate.yaml"];
  // biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
  const config: any = parse(text);
  return {
    deployment,
    pod,
    containers,
    gateway,
    servers: containers.filter((one) => one !== gateway),
    text,
    config,
  };
}
