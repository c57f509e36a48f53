/** kubernetes/: objects are valid and have no field that nobody knows, both renderings agree, files mean one thing in YAML 1.1 and 1.2. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { parseAllDocuments } from "yaml";
import { faultsOf } from "../support/manifest-faults.ts";
import { unknownFields } from "../support/manifest-fields.ts";
import {
  containersOf,
  kubectl,
  type Manifest,
  objectsOf,
  only,
  overlay,
  render,
  renderWith,
} from "../support/manifests.ts";
import { ROOT } from "../support/markdown.ts";

const FOLDER = join(ROOT, "kubernetes");
const KUBECTL = await kubectl();
const NEEDS_KUBECTL = KUBECTL === undefined ? "needs kubectl with kustomize 5 or later" : false;
const FILES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".yaml"),
);
const read = (name: string): string => readFileSync(join(FOLDER, name), "utf8");
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };

const clone = (object: Manifest): Manifest => structuredClone(object);

for (const name of ["sidecar", "standalone", "example", "trial"]) {
  const plain = name === "sidecar" || name === "standalone";
  t.test(`${name}: every object is valid`, { skip: plain ? false : NEEDS_KUBECTL }, async (t) => {
    const objects = plain ? render(overlay(name)) : await renderWith(KUBECTL ?? "", overlay(name));
    t.ok(objects.length >= 7);
    for (const object of objects) {
      t.same(await faultsOf(object), [], `${object.kind} ${object.metadata.name}`);
      t.equal(
        object.metadata.namespace,
        name === "example" && object.kind !== "Namespace" ? "tools" : undefined,
      );
    }
    const [image] = containersOf(only(objects, "Deployment")).filter((one) => one.name === "sealgate");
    t.match(
      image.image,
      new RegExp(`/sealgate:${version.replaceAll(".", "\\.")}$`),
      "this version of the gateway",
    );
  });
}

t.test("mistakes would be found", async (t) => {
  const inContainer = (change: object) => (one: Manifest) =>
    Object.assign(one["spec"].template.spec.containers[0], change);
  const mistakes: [string, (deployment: Manifest) => unknown, RegExp][] = [
    [
      "a field misspelt",
      inContainer({ imagge: "x" }),
      /unknown: spec\.template\.spec\.containers\[0\]\.imagge/,
    ],
    [
      "another case",
      ({ spec }) => Object.assign(spec.template.spec.securityContext, { runAsNonroot: true }),
      /unknown: .*\.runAsNonroot/,
    ],
    [
      "one level too high",
      ({ spec }) => Object.assign(spec.template, { terminationGracePeriodSeconds: 45 }),
      /unknown: spec\.template\.term/,
    ],
    ["a field beside the spec", (one) => Object.assign(one, { replicas: 2 }), /unknown: replicas/],
    ["no selector", ({ spec }) => Reflect.deleteProperty(spec, "selector"), /selector/],
    ["a port in words", inContainer({ ports: [{ containerPort: "8080" }] }), /containerPort/],
  ];
  const good = only(render(overlay("standalone")), "Deployment");
  for (const [what, change, expected] of mistakes) {
    const bad = clone(good);
    change(bad);
    t.match((await faultsOf(bad)).join("\n"), expected, what);
  }
  t.throws(() => unknownFields({ apiVersion: "apps/v1", kind: "Deploiment" }), /no such kind/);
  const labelled = clone(good);
  Object.assign(labelled.metadata, { annotations: { "any.example/name": "x" } });
  t.same(await faultsOf(labelled), [], "names of labels and annotations are free");
});

t.test("kubectl renders the same as the tests do", { skip: NEEDS_KUBECTL }, async (t) => {
  const sorted = (objects: readonly Manifest[]): Manifest[] =>
    objects.toSorted((a, b) => `${a.kind} ${a.metadata.name}`.localeCompare(`${b.kind} ${b.metadata.name}`));
  for (const name of ["sidecar", "standalone"]) {
    t.same(sorted(await renderWith(KUBECTL ?? "", overlay(name))), sorted(render(overlay(name))), name);
  }
});

t.test("the tests' own rendering refuses what it does not understand", async (t) => {
  t.throws(() => render(overlay("example")), /not understood here: namespace, patches/);
  const folder = t.testdir({
    "kustomization.yaml":
      "configMapGenerator: [{ name: a, files: [], behavior: merge }]\ngeneratorOptions: { disableNameSuffixHash: true }\n",
  });
  t.throws(() => render(folder), /generator/);
});

/** Where readers of YAML 1.1 and 1.2 would see something else: yes, off, octal numbers. */
function ambiguous(text: string): unknown[] {
  const under = (version: "1.1" | "1.2") =>
    parseAllDocuments(text, { version, merge: false }).map((document) => document.toJS() as unknown);
  const [old, now] = [under("1.1"), under("1.2")];
  return old.filter((one, index) => JSON.stringify(one) !== JSON.stringify(now[index]));
}

t.test("files mean one thing to every reader of YAML", async (t) => {
  t.ok(FILES.length >= 20);
  for (const name of FILES) t.same(ambiguous(read(name)), [], name);
  for (const trap of ["a: off", "a: y", "a: [no]", "mode: 0440", "at: 12:30:45"])
    t.equal(ambiguous(trap).length, 1, trap);
});

t.test("the image runs as the manifests say", async (t) => {
  const dockerfile = readFileSync(join(ROOT, "Dockerfile"), "utf8");
  const last = (word: string): string =>
    [...dockerfile.matchAll(new RegExp(`^${word} (.+)$`, "gm"))].at(-1)?.[1] ?? "";
  for (const name of ["sidecar", "standalone"]) {
    const deployment = only(render(overlay(name)), "Deployment");
    const { runAsUser, runAsGroup } = deployment["spec"].template.spec.securityContext;
    t.equal(`${runAsUser}:${runAsGroup}`, last("USER"));
    const gateway = containersOf(deployment).find((one) => one.name === "sealgate");
    t.equal(gateway.command, undefined, "the image's own entry point");
    t.same(gateway.args, JSON.parse(last("CMD")));
    t.equal(
      gateway.ports.map((port: { containerPort: number }) => port.containerPort).join(" "),
      last("EXPOSE"),
    );
  }
});

t.test("every file is used by a kustomization, and none holds a Secret", async (t) => {
  const used = FILES.filter((name) => name.endsWith("kustomization.yaml")).flatMap((name) => {
    const folder = name.slice(0, -"kustomization.yaml".length);
    return [...read(name).matchAll(/^\s+- (?:path: )?(\S+\.yaml)$/gm)].map(([, file = ""]) => folder + file);
  });
  t.same(FILES.filter((name) => !name.endsWith("kustomization.yaml")).sort(), [...new Set(used)].sort());
  for (const name of FILES.filter(
    (one) => !/(kustomization|sealgate|egress|overlays\/example\/ingress)\.yaml$/.test(one),
  )) {
    t.notOk(
      objectsOf(read(name)).some(({ kind }) => kind === "Secret"),
      name,
    );
  }
});
