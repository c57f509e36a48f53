/** kubernetes/: ports, probes, selectors, mounts, policies and grace periods fit each other and the configuration; one changed number shows. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { parse, stringify } from "yaml";
import { loadConfig } from "../../src/config/load.ts";
import { hasOpenssl, selfSigned } from "../support/certificates.ts";
import { misfits } from "../support/manifest-fit.ts";
import {
  containersOf,
  kubectl,
  type Manifest,
  only,
  overlay,
  partsOf,
  render,
  renderWith,
} from "../support/manifests.ts";
import { page, rows, section } from "../support/markdown.ts";
import { mount } from "../support/mount.ts";

const KUBECTL = await kubectl();
const skip = KUBECTL === undefined ? "needs kubectl with kustomize 5 or later" : false;
const FORMS = {
  sidecar: render(overlay("sidecar")),
  standalone: render(overlay("standalone")),
  ...(KUBECTL === undefined
    ? {}
    : {
        example: await renderWith(KUBECTL, overlay("example")),
        trial: await renderWith(KUBECTL, overlay("trial")),
      }),
};

for (const [name, objects] of Object.entries(FORMS)) {
  t.test(`${name}: everything fits`, async (t) => t.same(misfits(objects), []));
}
t.test("example and trial", { skip }, async (t) => t.ok("example" in FORMS && "trial" in FORMS));

type Form = "sidecar" | "standalone";
// biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
type Any = any;

/** Sets or removes (undefined) what a path leads to; the path must lead to something, but for its last step. */
function put(root: Any, path: string, value: unknown): void {
  const steps = path.split(".");
  const last = steps.pop() ?? "";
  const at = steps.reduce((node, step) => node[step], root);
  if (value === undefined) delete at[last];
  else at[last] = value;
}

/** Changes one thing: in the ConfigMap's `sealgate.yaml`, the pod, the gateway's container, or an object by kind and name. */
function change(objects: Manifest[], where: string, path: string, value: unknown): void {
  const deployment = only(objects, "Deployment");
  const config = only(objects, "ConfigMap", "sealgate-config");
  const roots: Record<string, () => unknown> = {
    pod: () => deployment["spec"].template.spec,
    gateway: () => containersOf(deployment).find(({ name }) => name === "sealgate"),
    config: () => parse(config["data"]["sealgate.yaml"]),
  };
  const [kind = "", name = "sealgate"] = where.split(" ");
  const root = roots[where]?.() ?? only(objects, kind, name);
  put(root, path, value);
  if (where === "config") config["data"]["sealgate.yaml"] = stringify(root);
}

const NP = "NetworkPolicy";
const HPA = "HorizontalPodAutoscaler";
const UPSTREAM = "NetworkPolicy sealgate-upstream";
const NGINX = { "nginx.ingress.kubernetes.io/proxy-buffering": "on" };
const TCP = "TCP";
const ANY_POD = { podSelector: {} };
const OTHER = { a: "b" };
const MOUNT = { name: "keys", mountPath: "/k", readOnly: true };
const ROUTE = { path: "/two", upstream: { url: "http://mcp-server:3001/mcp" } };

/** What; in which form; where; path; new value, undefined for none; what no longer fits. */
const CHANGES: readonly (readonly [string, Form, string, string, unknown, RegExp])[] = [
  ["server.listen", "standalone", "config", "server.listen", "0.0.0.0:8081", /server\.listen/],
  ["admin.listen", "sidecar", "config", "admin.listen", "0.0.0.0:9091", /admin\.listen/],
  ["admin on loopback", "standalone", "config", "admin.listen", "127.0.0.1:9090", /reached from outside/],
  ["a container port", "sidecar", "gateway", "ports.0.containerPort", 8081, /port http/],
  ["the Service's target", "standalone", "Service", "spec.ports.0.targetPort", "admin", /Service leads/],
  ["a probe's path", "sidecar", "gateway", "readinessProbe.httpGet.path", "/healthz", /readinessProbe/],
  ["a probe's port", "standalone", "gateway", "livenessProbe.httpGet.port", "http", /livenessProbe/],
  ["the admitted port", "sidecar", NP, "spec.ingress.0.ports.0.port", 8081, /two listeners/],
  ["a third port", "sidecar", NP, "spec.ingress.0.ports.1", { protocol: TCP, port: 3001 }, /two listeners/],
  ["admin for all", "standalone", NP, "spec.ingress.1.from", undefined, /monitoring/],
  ["admin for others", "standalone", NP, "spec.ingress.1.from.0.namespaceSelector", OTHER, /monitoring/],
  ["clients from all pods", "standalone", NP, "spec.ingress.0.from.1", ANY_POD, /one way/],
  ["egress open", "sidecar", NP, "spec.policyTypes", ["Ingress"], /both ways/],
  ["ingress open", "standalone", NP, "spec.policyTypes", ["Egress"], /both ways/],
  ["no DNS", "sidecar", NP, "spec.egress.0.ports.0.port", 54, /DNS by UDP/],
  ["every port", "sidecar", NP, "spec.egress.1.ports", undefined, /every port/],
  ["Redis elsewhere", "sidecar", "config", "redis.url", "rediss://redis.example:6380/0", /Redis/],
  [
    "an issuer's port",
    "sidecar",
    "config",
    "authentication.issuers.0.issuer",
    "https://a.example:8443",
    /issuer/,
  ],
  ["the server's port", "sidecar", "pod", "containers.0.env.1.value", "3002", /route leads/],
  ["the server on all addresses", "sidecar", "pod", "containers.0.env.0.value", "0.0.0.0", /route leads/],
  ["the upstream's port", "standalone", "Service mcp-server", "spec.ports.0.port", 3002, /route's port/],
  ["its target", "standalone", "Service mcp-server", "spec.ports.0.targetPort", 3002, /only the gateway/],
  ["it open", "standalone", "NetworkPolicy mcp-server", "spec.ingress.0.from.1", ANY_POD, /only the gateway/],
  ["no way to it", "standalone", UPSTREAM, "spec.egress.0.ports.0.port", 3002, /way to the upstream/],
  [
    "the Deployment's selector",
    "sidecar",
    "Deployment",
    "spec.selector.matchLabels",
    OTHER,
    /Deployment sel/,
  ],
  ["the Service's selector", "sidecar", "Service", "spec.selector", {}, /Service selects/],
  ["the budget's", "standalone", "PodDisruptionBudget", "spec.selector.matchLabels", OTHER, /Budget selects/],
  ["the policy's", "sidecar", NP, "spec.podSelector.matchLabels", OTHER, /NetworkPolicy selects/],
  [
    "a spread's",
    "sidecar",
    "pod",
    "topologySpreadConstraints.0.labelSelector.matchLabels",
    OTHER,
    /hostname/,
  ],
  ["another account", "sidecar", "pod", "serviceAccountName", "default", /ServiceAccount/],
  ["the autoscaler's target", "standalone", HPA, "spec.scaleTargetRef.name", "gateway", /scales/],
  ["replicas beside it", "standalone", "Deployment", "spec.replicas", 2, /left to the autoscaler/],
  ["no room", "standalone", HPA, "spec.maxReplicas", 2, /has room/],
  ["one replica", "sidecar", "Deployment", "spec.replicas", 1, /more than one replica/],
  ["a configuration of one", "sidecar", "config", "server.replicas", 1, /more than one replica/],
  ["a longer drain", "standalone", "config", "server.shutdownGrace", "35s", /grace holds/],
  ["a shorter drain", "standalone", "config", "server.shutdownGrace", "5s", /calls that run/],
  ["a shorter grace", "sidecar", "pod", "terminationGracePeriodSeconds", 50, /grace holds/],
  ["no preStop", "standalone", "gateway", "lifecycle", undefined, /forget the pod/],
  ["no preStop of the server", "sidecar", "pod", "containers.0.lifecycle", undefined, /calls that run/],
  ["one that must end first", "sidecar", "gateway", "restartPolicy", undefined, /is restarted/],
  ["old first", "sidecar", "Deployment", "spec.strategy.rollingUpdate.maxUnavailable", 1, /a new pod/],
  ["a file by subPath", "sidecar", "gateway", "volumeMounts.0.subPath", "sealgate.yaml", /mounted whole/],
  ["mode 440", "standalone", "pod", "volumes.1.secret.defaultMode", 440, /its group only/],
  ["keys for the server", "sidecar", "pod", "containers.0.volumeMounts.1", MOUNT, /no secret/],
  ["keys elsewhere", "standalone", "gateway", "volumeMounts.1.mountPath", "/run/keys", /keys\.folder/],
  [
    "a file that is not mounted",
    "standalone",
    "config",
    "redis.password.file",
    "/run/x",
    /files are mounted/,
  ],
  ["no group", "standalone", "pod", "securityContext.fsGroup", undefined, /group of the files/],
  ["another ConfigMap", "standalone", "pod", "volumes.0.configMap.name", "x", /generated one/],
  ["another host", "standalone", "config", "server.publicUrl", "https://other.example", /publicUrl/],
  ["a second route", "standalone", "config", "routes.1", ROUTE, /RFC 9728/],
  ["no metadata", "sidecar", "Ingress", "spec.rules.0.http.paths.length", 1, /RFC 9728/],
  ["buffered events", "sidecar", "Ingress", "metadata.annotations", NGINX, /held back/],
  ["larger bodies", "standalone", "config", "server.limits", { body: "8MiB" }, /bodies/],
  ["root", "sidecar", "pod", "securityContext.runAsUser", 0, /as a user/],
  ["no seccomp", "sidecar", "pod", "securityContext.seccompProfile", undefined, /seccomp/],
  [
    "a writable root",
    "standalone",
    "gateway",
    "securityContext.readOnlyRootFilesystem",
    false,
    /may nothing/,
  ],
  ["a capability", "sidecar", "gateway", "securityContext.capabilities.add", ["NET_ADMIN"], /may nothing/],
  ["the host's network", "sidecar", "pod", "hostNetwork", true, /is alone/],
  ["the host's files", "sidecar", "pod", "volumes.0", { name: "tmp", hostPath: { path: "/" } }, /no host/],
  ["a token for the API", "standalone", "pod", "automountServiceAccountToken", undefined, /no token/],
  ["no bounds", "sidecar", "gateway", "resources.limits.memory", undefined, /has bounds/],
  ["the newest image", "standalone", "gateway", "image", "registry.example.com/sealgate:latest", /a version/],
  ["no tag", "sidecar", "pod", "containers.0.image", "registry.example.com:5000/mcp-server", /a version/],
];

t.test("one thing changed shows", async (t) => {
  for (const [what, form, where, path, value, expected] of CHANGES) {
    const objects = structuredClone(FORMS[form]);
    change(objects, where, path, value);
    t.match(misfits(objects).join("\n"), expected, `${form}: ${what}`);
  }
});

t.test("docs/kubernetes.md tells the ways there are, and the times", async (t) => {
  const walk = page("docs/kubernetes.md");
  const told = rows(section(walk, "NetworkPolicy")).map(([way = ""]) => way);
  const policies = FORMS.standalone.filter(
    ({ kind, spec }) => kind === NP && spec.podSelector.matchLabels["app.kubernetes.io/name"] === "sealgate",
  );
  const ports = (way: "ingress" | "egress"): number[] =>
    policies
      .flatMap(({ spec }) => spec[way] ?? [])
      .flatMap((rule: Any) => rule.ports.map(({ port }: Any) => port));
  const ways = [
    ...ports("ingress").map((port) => `in, ${port}`),
    ...ports("egress").map((port) => `out, ${port}`),
  ];
  t.same([...told].sort(), [...new Set(ways)].sort());
  const sleeps = Object.values(FORMS).flatMap((objects) =>
    containersOf(only(objects, "Deployment")).flatMap(
      ({ lifecycle }) => lifecycle?.preStop.sleep.seconds ?? [],
    ),
  );
  t.same(new Set(sleeps), new Set([10, 35]));
  t.match(walk.text, "forgotten the pod (10 s)");
  t.match(walk.text, "gives them elsewhere (25 s)");
  for (const name of ["sealgate-keys", "sealgate-redis", "sealgate-upstream"]) {
    t.match(walk.text, `kubectl create secret generic ${name} `);
  }
  const secrets = Object.values(FORMS).flatMap((objects) =>
    partsOf(objects).pod.volumes.flatMap(({ secret }: Any) => secret?.secretName ?? []),
  );
  t.same(
    [...new Set(secrets)].filter((name) => !walk.text.includes(`generic ${name} `)),
    [],
  );
});

for (const [name, objects] of Object.entries(FORMS)) {
  t.test(
    `${name}: the configuration loads from mounts`,
    { skip: (await hasOpenssl()) ? false : "needs openssl" },
    async (t) => {
      const { text } = partsOf(objects);
      const { cert } = await selfSigned(t, ["DNS:redis.example"]);
      const files: Record<string, Record<string, string>> = {
        keys: { "2026-11": "k".repeat(43) },
        redis: { password: "correct-horse", "ca.crt": cert },
        upstream: { token: "a-token" },
      };
      let mapped = text;
      for (const [folder, content] of Object.entries(files)) {
        mapped = mapped.replaceAll(`/run/sealgate/${folder}`, (await mount(t, content)).folder);
      }
      t.notMatch(mapped, "/run/sealgate");
      const file = join((await mount(t, { "sealgate.yaml": mapped })).folder, "sealgate.yaml");
      const { warnings } = await loadConfig(file, {});
      const expected: Record<string, RegExp[]> = {
        trial: [/redis\.url: is not encrypted/],
        example: [/credential: crosses the network in clear/],
      };
      t.match(
        warnings.toSorted(),
        [/admin\.listen: is an address that others can reach/, ...(expected[name] ?? [])],
        "network-policy.yaml keeps clients away from the admin port",
      );
      t.equal(warnings.length, 1 + (expected[name]?.length ?? 0));
      await writeFile(file, mapped.replace("folder:", "folderr:"));
      await t.rejects(loadConfig(file, {}), /did you mean|Unrecognized|unknown/i);
    },
  );
}
