/** What of rendered manifests lets traffic through, held to the configuration they carry. Part of `manifest-fit.ts`. */
import { isDeepStrictEqual } from "node:util";
import { isLoopback, parseListen } from "../../src/config/addresses.ts";
import { parseSize } from "../../src/config/units.ts";
import { covers, type Expect, type Manifest, only, partsOf } from "./manifests.ts";

type Labels = Readonly<Record<string, string>>;
// biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
type Any = any;

const portOf = (address: string): number => parseListen(address)?.port ?? Number.NaN;
const mebibytes = (size: string): number => parseSize(size.replace(/^(\d+)m$/, "$1MiB")) ?? Number.NaN;

/** Listeners, ports of the container and of the Service, probes. */
export function checkPorts(objects: readonly Manifest[], expect: Expect): void {
  const { gateway, config } = partsOf(objects);
  const ports = new Map<string, number>(gateway.ports.map((port: Any) => [port.name, port.containerPort]));
  expect(ports.get("http") === portOf(config.server.listen), "port http is server.listen");
  expect(ports.get("admin") === portOf(config.admin.listen), "port admin is admin.listen");
  for (const { listen } of [config.server, config.admin]) {
    expect(
      !isLoopback(parseListen(listen)?.host ?? "localhost"),
      `${listen} can be reached from outside the pod`,
    );
  }
  const [port, ...more] = only(objects, "Service")["spec"].ports;
  expect(more.length === 0 && port.targetPort === "http", "Service leads to port http and no other");
  const paths = { startupProbe: "/healthz", livenessProbe: "/healthz", readinessProbe: "/readyz" };
  for (const [probe, path] of Object.entries(paths)) {
    expect(isDeepStrictEqual(gateway[probe]?.httpGet, { path, port: "admin" }), `${probe} asks ${path}`);
  }
}

/** The one rule with a port; its peers must be named, since no peers are all peers. */
function peersFor(
  policies: readonly Manifest[],
  way: "ingress" | "egress",
  port: number,
  protocol = "TCP",
): Any[] {
  const rules = policies.flatMap(({ spec }) => spec[way] ?? []);
  const fitting = rules.filter((rule: Any) =>
    rule.ports?.some((one: Any) => one.port === port && one.protocol === protocol),
  );
  return fitting.flatMap((rule: Any) => rule[way === "ingress" ? "from" : "to"] ?? [{}]);
}

function policiesFor(objects: readonly Manifest[], labels: Labels): Manifest[] {
  return objects.filter(
    ({ kind, spec }) => kind === "NetworkPolicy" && covers(labels, spec.podSelector.matchLabels ?? {}),
  );
}

/** NetworkPolicy of the pods with the gateway. */
export function checkAdmission(objects: readonly Manifest[], expect: Expect): void {
  const { deployment, config } = partsOf(objects);
  const policies = policiesFor(objects, deployment["spec"].template.metadata.labels);
  const types = new Set(policies.flatMap(({ spec }) => spec.policyTypes));
  expect(types.has("Ingress") && types.has("Egress"), "both ways are closed");
  const admitted = policies
    .flatMap(({ spec }) => spec.ingress ?? [])
    .flatMap(({ ports }: Any) => ports ?? [{}]);
  const wanted = [config.server.listen, config.admin.listen].map((address) => ({
    protocol: "TCP",
    port: portOf(address),
  }));
  expect(isDeepStrictEqual(admitted, wanted), "exactly the two listeners are admitted");
  const namespaces = (port: number): unknown[] =>
    peersFor(policies, "ingress", port).map(
      ({ namespaceSelector }) => namespaceSelector?.matchLabels?.["kubernetes.io/metadata.name"],
    );
  expect(
    isDeepStrictEqual(namespaces(portOf(config.admin.listen)), ["monitoring"]),
    "admin is for monitoring",
  );
  expect(
    isDeepStrictEqual(namespaces(portOf(config.server.listen)), ["ingress-nginx"]),
    "clients have one way",
  );
  for (const protocol of ["UDP", "TCP"]) {
    expect(peersFor(policies, "egress", 53, protocol).length === 1, `DNS by ${protocol}`);
  }
  const redis = new URL(config.redis.url);
  expect(peersFor(policies, "egress", Number(redis.port)).length === 1, "the way to Redis");
  for (const { issuer } of config.authentication.issuers) {
    expect(
      peersFor(policies, "egress", Number(new URL(issuer).port || 443)).length > 0,
      "the way to the issuer",
    );
  }
  const open = policies.flatMap(({ spec }) => [...(spec.ingress ?? []), ...(spec.egress ?? [])]);
  expect(
    open.every((rule: Any) => rule.ports?.length > 0 && (rule.from ?? rule.to)?.length > 0),
    "no rule is for everybody or for every port",
  );
}

/** The MCP server: where the route leads, and who else can go there. */
export function checkUpstream(objects: readonly Manifest[], expect: Expect): void {
  const { deployment, servers, config } = partsOf(objects);
  for (const { upstream } of config.routes) {
    const { hostname, port } = new URL(upstream.url);
    if (isLoopback(hostname)) {
      const env = new Map(servers.flatMap(({ env = [] }) => env).map((one: Any) => [one.name, one.value]));
      expect(
        env.get("HOST") === hostname && env.get("PORT") === port,
        "the server listens where the route leads",
      );
      continue;
    }
    const service = objects.find((one) => one.kind === "Service" && one.metadata.name === hostname);
    const labels = service?.["spec"].selector ?? {};
    const [door, ...more] = service?.["spec"].ports ?? [];
    expect(more.length === 0 && door?.port === Number(port), "the upstream's Service has the route's port");
    const mine = { podSelector: { matchLabels: only(objects, "Service")["spec"].selector } };
    const policies = policiesFor(objects, labels);
    expect(
      isDeepStrictEqual(peersFor(policies, "ingress", door?.targetPort), [mine]) &&
        policies.flatMap(({ spec }) => spec.ingress).length === 1,
      "only the gateway reaches the upstream",
    );
    const own = policiesFor(objects, deployment["spec"].template.metadata.labels);
    const way = [{ podSelector: { matchLabels: labels } }];
    expect(isDeepStrictEqual(peersFor(own, "egress", door?.targetPort), way), "the way to the upstream");
  }
}

/** The way of clients. */
export function checkIngress(objects: readonly Manifest[], expect: Expect): void {
  const { config } = partsOf(objects);
  const { metadata, spec } = only(objects, "Ingress");
  const { host } = new URL(config.server.publicUrl);
  expect(
    isDeepStrictEqual(spec.tls[0].hosts, [host]) && spec.rules[0].host === host,
    "the host is publicUrl's",
  );
  const service = only(objects, "Service");
  const backend = { service: { name: service.metadata.name, port: { name: service["spec"].ports[0].name } } };
  const paths = [
    ...config.routes.map(({ path }: Any) => ({ path, pathType: "Exact", backend })),
    { path: "/.well-known/oauth-protected-resource", pathType: "Prefix", backend },
  ];
  expect(
    isDeepStrictEqual(spec.rules[0].http.paths, paths),
    "routes and the metadata of RFC 9728 lead to the gateway",
  );
  const note = (name: string): string => metadata.annotations?.[`nginx.ingress.kubernetes.io/${name}`] ?? "";
  expect(
    note("proxy-buffering") === "off" && note("proxy-request-buffering") === "off",
    "nothing is held back",
  );
  for (const way of ["read", "send"])
    expect(Number(note(`proxy-${way}-timeout`)) >= 3600, `streams live, ${way}`);
  const body = config.server.limits?.body ?? "4MiB";
  expect(mebibytes(note("proxy-body-size")) === parseSize(body), "bodies of server.limits.body pass");
}
