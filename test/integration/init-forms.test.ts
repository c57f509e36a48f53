/** The files of `sealgate init` for compose and for a sidecar: sound, of one mind with the image, and nothing to warn of. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/load.ts";
import { seenFrom } from "../../src/init/plan.ts";
import { onPath } from "../support/debian.ts";
import { startIssuer } from "../support/issuer.ts";
import { faultsOf } from "../support/manifest-faults.ts";
import { kubectl, objectsOf, renderWith } from "../support/manifests.ts";
import { ROOT } from "../support/markdown.ts";
import { listing, runInit, serverFor, tree } from "./init-scene.ts";

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
const ROOT_RUNS = process.getuid?.() === 0;

/** Writes the files of a form. */
async function written(t: Test, form: string, more: Readonly<Record<string, string>> = {}) {
  const server = await serverFor(t, listing({ "tools/list": [[{ name: "a" }]] }));
  const issuer = await startIssuer();
  t.teardown(issuer.close);
  const out = join(t.testdir({ out: {}, token: "s3cret-token" }), "out");
  const made = await runInit({ upstream: server.url, issuer: issuer.issuer, for: form, out, ...more });
  t.equal(made.code, 0, made.err);
  return { out, made, server, read: (path: string) => readFileSync(join(out, path), "utf8") };
}

/** How the image asks for its health, without the file of the configuration. */
function healthOfImage(): string[] {
  const [, command = "[]"] =
    /^HEALTHCHECK[^[]*(\[.*\])$/m.exec(
      readFileSync(join(ROOT, "Dockerfile"), "utf8").replaceAll("\\\n", ""),
    ) ?? [];
  return (JSON.parse(command) as string[]).slice(0, -1);
}

t.test("compose: one gateway with its files, closed to all but loopback", async (t) => {
  const { out, made, server, read } = await written(t, "compose");
  t.equal(made.err, "", "nothing that check would warn of");
  t.match(made.out, "The issuer is on this machine: a container does not reach it");
  const [key = ""] = tree(join(out, "keys"));
  t.same(tree(out), ["config", "config/sealgate.yaml", "docker-compose.yml", "keys", `keys/${key}`]);
  const compose = parse(read("docker-compose.yml")) as {
    // biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
    services: Record<string, any>;
  };
  t.same(Object.keys(compose.services), ["sealgate"]);
  const { sealgate } = compose.services;
  t.equal(sealgate.image, `sealgate:${version}`);
  t.same(sealgate.command, ["serve", "--config", "/etc/sealgate/config/sealgate.yaml"]);
  t.same(sealgate.ports, ["127.0.0.1:8080:8080"]);
  t.same(
    [sealgate.read_only, sealgate.cap_drop, sealgate.security_opt],
    [true, ["ALL"], ["no-new-privileges:true"]],
  );
  t.same(sealgate.healthcheck.test, ["CMD", ...healthOfImage(), "/etc/sealgate/config/sealgate.yaml"]);
  t.same(
    sealgate.volumes.map((one: Record<string, unknown>) => [one["source"], one["target"], one["read_only"]]),
    ["config", "keys"].map((name) => [`./${name}`, `/etc/sealgate/${name}`, true]),
  );
  const { uid, gid, mode } = statSync(join(out, "keys", key));
  t.equal(sealgate.user, `${uid}:${gid}`, "the container can read what only the owner can");
  t.equal(mode & 0o777, 0o600);
  t.equal(uid, ROOT_RUNS ? 1000 : process.getuid?.());
  t.ok(statSync(join(out, "config/sealgate.yaml")).mode & 0o004, "and the configuration");
  const { config } = await loadConfig(join(out, "config/sealgate.yaml"), process.env);
  t.equal(config.server.listen.host, "0.0.0.0");
  t.equal(config.admin?.listen.host, "127.0.0.1");
  t.equal(config.authentication.mode, "required");
  t.equal(config.routes[0]?.upstream.url, server.url.replace("127.0.0.1", "host.docker.internal"));
  t.same(sealgate.extra_hosts, ["host.docker.internal:host-gateway"]);
});

t.test("compose: the server's token is copied for the container, and mounted", async (t) => {
  const token = join(t.testdir({ token: "s3cret-token" }), "token");
  const { out, read } = await written(t, "compose", {
    "upstream-token-file": token,
    "public-url": "https://mcp.example.com",
  });
  t.equal(read("upstream/token"), "s3cret-token\n");
  t.equal(statSync(join(out, "upstream/token")).mode & 0o777, 0o600);
  t.match(read("docker-compose.yml"), "target: /etc/sealgate/upstream");
  t.notMatch(read("docker-compose.yml") + read("config/sealgate.yaml"), "s3cret");
  const { config } = await loadConfig(join(out, "config/sealgate.yaml"), process.env);
  t.equal(config.server.publicUrl, "https://mcp.example.com");
});

const compose = onPath("docker-compose");
const plugin = spawnSync("docker", ["compose", "version"]).status === 0;
t.test(
  "compose itself takes the file",
  { skip: compose === undefined && !plugin ? "needs docker compose" : false },
  async (t) => {
    const { out } = await written(t, "compose");
    const [program = "", ...first] = plugin ? ["docker", "compose"] : [compose ?? ""];
    t.doesNotThrow(() =>
      execFileSync(program, [...first, "--file", join(out, "docker-compose.yml"), "config", "--quiet"]),
    );
  },
);

t.test("sidecar: sound manifests for a pod in which the server is on loopback", async (t) => {
  const token = join(t.testdir({ token: "s3cret-token" }), "token");
  const { out, made, server, read } = await written(t, "sidecar", { "upstream-token-file": token });
  t.equal(made.err, "", "nothing that check would warn of");
  const [key = ""] = tree(join(out, "keys"));
  const objects = ["deployment", "service", "network-policy"].flatMap((name) =>
    objectsOf(read(`${name}.yaml`)),
  );
  for (const object of objects) t.same(await faultsOf(object), [], object.kind);
  const [deployment, service, policy] = objects;
  const pod = deployment?.["spec"].template;
  const [gateway] = pod.spec.initContainers;
  t.equal(gateway.restartPolicy, "Always", "a native sidecar");
  t.equal(deployment?.["spec"].replicas, 1, "states are in memory");
  t.same(gateway.startupProbe.exec.command, [...healthOfImage(), "/etc/sealgate/config/sealgate.yaml"]);
  t.equal(gateway.readinessProbe.exec.command.at(-1), "--ready");
  for (const container of [gateway, ...pod.spec.containers]) {
    t.same(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  }
  t.same(deployment?.["spec"].selector.matchLabels, pod.metadata.labels);
  t.same(service?.["spec"].selector, pod.metadata.labels);
  t.same(policy?.["spec"].podSelector.matchLabels, pod.metadata.labels);
  t.same(policy?.["spec"].ingress[0].ports, [{ protocol: "TCP", port: "http" }]);
  t.same(gateway.ports, [{ name: "http", protocol: "TCP", containerPort: 8080 }]);
  const names = pod.spec.volumes.map(({ name }: { name: string }) => name);
  t.same(["tmp", ...gateway.volumeMounts.map(({ name }: { name: string }) => name)], names);
  t.same(pod.spec.containers[0].volumeMounts, [{ name: "tmp", mountPath: "/tmp" }]);
  const kustomization = parse(read("kustomization.yaml"));
  t.same(kustomization.secretGenerator, [
    { name: "sealgate-keys", files: [`keys/${key}`] },
    { name: "sealgate-upstream", files: ["upstream/token"] },
  ]);
  const { config } = await loadConfig(join(out, "config/sealgate.yaml"), process.env);
  t.equal(config.routes[0]?.upstream.url, server.url);
  t.equal(config.server.publicUrl, "https://mcp.example.com");
  t.notMatch(objects.map((object) => JSON.stringify(object)).join(""), "s3cret");
});

const KUBECTL = await kubectl();
t.test("kustomize puts it together", { skip: KUBECTL === undefined ? "needs kubectl" : false }, async (t) => {
  const { out } = await written(t, "sidecar");
  const objects = await renderWith(KUBECTL ?? "", out);
  t.same(objects.map(({ kind }) => kind).sort(), [
    "ConfigMap",
    "Deployment",
    "NetworkPolicy",
    "Secret",
    "Service",
  ]);
  const images = JSON.stringify(objects).match(/registry\.example\.com\/[\w-]+:[\w.]+/g);
  t.same(images?.sort(), ["registry.example.com/mcp-server:1", `registry.example.com/sealgate:${version}`]);
});

t.test("where the server is, seen from the gateway", async (t) => {
  t.equal(seenFrom("laptop", "http://localhost:3001/mcp"), "http://localhost:3001/mcp");
  t.equal(seenFrom("compose", "http://[::1]:3001/a/mcp?x=1"), "http://host.docker.internal:3001/a/mcp?x=1");
  t.equal(seenFrom("compose", "https://mcp.example.com/mcp"), "https://mcp.example.com/mcp");
  t.equal(seenFrom("sidecar", "https://mcp.example.com/mcp"), "http://127.0.0.1:3001/mcp");
  t.equal(seenFrom("sidecar", "http://10.0.0.7:4000/mcp"), "http://127.0.0.1:4000/mcp");
});
