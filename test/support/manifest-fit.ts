/**
 * Whether rendered manifests fit each other and the configuration they carry: ports, probes, selectors, mounts, grace
 * periods, network policies. Each thing that does not is a line; tests change numbers to see that lines appear.
 */
import { isDeepStrictEqual } from "node:util";
import { parseDuration } from "../../src/config/units.ts";
import { checkAdmission, checkIngress, checkPorts, checkUpstream } from "./manifest-network.ts";
import { containersOf, covers, type Expect, type Manifest, only, partsOf } from "./manifests.ts";

/** What the gateway may need after SIGTERM beyond `server.shutdownGrace`, in seconds (docs/lifecycle.md). */
const LAST_WORDS = 5;
/** What a server may take for its own end, in seconds. */
const END_OF_SERVER = 10;

// biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
type Any = any;

/** What does not fit. `objects` as rendered for one form. */
export function misfits(objects: readonly Manifest[]): string[] {
  const found: string[] = [];
  const expect = (isTrue: boolean, what: string): void => void (isTrue || found.push(what));
  checkSelectors(objects, expect);
  checkPorts(objects, expect);
  checkAdmission(objects, expect);
  checkUpstream(objects, expect);
  checkEnds(objects, expect);
  checkMounts(objects, expect);
  checkIngress(objects, expect);
  for (const one of objects.filter(({ kind }) => kind === "Deployment")) checkSecurity(one, expect);
  return found;
}

function checkSelectors(objects: readonly Manifest[], expect: Expect): void {
  const { deployment, pod, config } = partsOf(objects);
  const { labels } = deployment["spec"].template.metadata;
  expect(covers(labels, deployment["spec"].selector.matchLabels), "Deployment selects its pods");
  expect(covers(labels, only(objects, "Service")["spec"].selector), "Service selects the pods");
  for (const kind of ["PodDisruptionBudget", "NetworkPolicy"]) {
    const { selector, podSelector } = only(objects, kind)["spec"];
    expect(covers(labels, (selector ?? podSelector).matchLabels), `${kind} selects the pods`);
  }
  for (const { topologyKey, labelSelector } of pod.topologySpreadConstraints) {
    expect(covers(labels, labelSelector.matchLabels), `spread over ${topologyKey} selects the pods`);
  }
  const account = only(objects, "ServiceAccount");
  expect(pod.serviceAccountName === account.metadata.name, "the pod's ServiceAccount is there");
  const scaler = objects.find(({ kind }) => kind === "HorizontalPodAutoscaler");
  const least = scaler === undefined ? deployment["spec"].replicas : scaler["spec"].minReplicas;
  if (scaler !== undefined) {
    const { apiVersion, kind, name } = scaler["spec"].scaleTargetRef;
    const target = [deployment.apiVersion, deployment.kind, deployment.metadata.name];
    expect(isDeepStrictEqual([apiVersion, kind, name], target), "the autoscaler scales the Deployment");
    expect(deployment["spec"].replicas === undefined, "replicas are left to the autoscaler");
    expect(scaler["spec"].maxReplicas > least, "the autoscaler has room");
  }
  expect(least > 1 && config.server.replicas > 1, "more than one replica, and the configuration knows");
}

function checkEnds(objects: readonly Manifest[], expect: Expect): void {
  const { deployment, pod, gateway, servers, config } = partsOf(objects);
  const rolling = { maxUnavailable: 0, maxSurge: 1 };
  expect(
    isDeepStrictEqual(deployment["spec"].strategy.rollingUpdate, rolling),
    "a new pod before an old one goes",
  );
  const grace = (parseDuration(config.server.shutdownGrace) ?? Number.NaN) / 1000;
  const sleepOf = (container: Any): number => container.lifecycle?.preStop?.sleep?.seconds ?? 0;
  // A native sidecar gets the signal when the other containers have ended.
  const before = servers.length === 0 ? sleepOf(gateway) : Math.max(...servers.map(sleepOf)) + END_OF_SERVER;
  expect(before >= 10, "proxies have time to forget the pod before the signal");
  expect(servers.length === 0 || gateway.restartPolicy === "Always", "a sidecar is one that is restarted");
  expect(before + grace + LAST_WORDS < pod.terminationGracePeriodSeconds, "the pod's grace holds all of it");
  if (servers.length === 0) expect(grace >= 25, "calls that run have time");
  else expect(Math.max(...servers.map(sleepOf)) >= 35, "calls that run have time");
}

function checkMounts(objects: readonly Manifest[], expect: Expect): void {
  const { pod, containers, gateway, servers, text, config } = partsOf(objects);
  const volumes = new Map<string, Any>(pod.volumes.map((volume: Any) => [volume.name, volume]));
  const mounted = containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
  expect(
    isDeepStrictEqual(new Set(mounted.map(({ name }: Any) => name)), new Set(volumes.keys())),
    "mounts have volumes",
  );
  for (const { name, readOnly, subPath } of mounted) {
    const { emptyDir, secret, configMap } = volumes.get(name) ?? {};
    if (emptyDir !== undefined) continue;
    expect(readOnly === true && subPath === undefined, `${name} is mounted whole, for reading`);
    expect(configMap !== undefined || secret?.defaultMode === 0o440, `${name} is open to its group only`);
  }
  const secrets = [...volumes.values()].filter(({ secret }) => secret !== undefined).map(({ name }) => name);
  const shown = servers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }: Any) => name));
  expect(!secrets.some((name) => shown.includes(name)), "the server sees no secret of the gateway");
  expect(Number.isInteger(pod.securityContext.fsGroup), "the group of the files is the pod's");
  const folder = (name: string): string =>
    gateway.volumeMounts.find((one: Any) => one.name === name)?.mountPath;
  expect(
    volumes.get("config")?.configMap?.name === "sealgate-config",
    "the configuration is the generated one",
  );
  const args = ["serve", "--config", `${folder("config")}/sealgate.yaml`];
  expect(isDeepStrictEqual(gateway.args, args), "the program reads the mounted configuration");
  expect(config.keys.folder === folder("keys"), "keys.folder is the mounted Secret");
  const paths = [...text.matchAll(/file: (\S+)/g)].map(([, path = ""]) => path);
  const folders: string[] = gateway.volumeMounts.map(({ mountPath }: Any) => mountPath);
  expect(
    paths.length > 0 && paths.every((path) => folders.includes(path.replace(/\/[^/]+$/, ""))),
    "files are mounted",
  );
}

/** The restricted Pod Security Standard, and what goes beyond it. */
function checkSecurity(deployment: Manifest, expect: Expect): void {
  const { name } = deployment.metadata;
  const pod = deployment["spec"].template.spec;
  const { runAsNonRoot, runAsUser, seccompProfile } = pod.securityContext;
  expect(runAsNonRoot === true && runAsUser > 0, `${name} runs as a user`);
  expect(isDeepStrictEqual(seccompProfile, { type: "RuntimeDefault" }), `${name} has a seccomp profile`);
  expect(pod.automountServiceAccountToken === false, `${name} has no token for the API`);
  expect(
    ![pod.hostNetwork, pod.hostPID, pod.hostIPC, pod.shareProcessNamespace].includes(true),
    `${name} is alone`,
  );
  const kinds = (pod.volumes ?? []).flatMap((volume: Any) =>
    Object.keys(volume).filter((key) => key !== "name"),
  );
  expect(
    kinds.every((kind: string) => ["configMap", "secret", "emptyDir"].includes(kind)),
    `${name} sees no host`,
  );
  const strict = {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  };
  for (const { image, resources, securityContext, ...container } of containersOf(deployment)) {
    const at = `${name}/${container.name}`;
    expect(isDeepStrictEqual(securityContext, strict), `${at} may nothing`);
    expect(
      resources.requests.cpu && resources.requests.memory && resources.limits.memory,
      `${at} has bounds`,
    );
    expect(/(:(?!latest$)[\w.-]+|@sha256:[0-9a-f]{64})$/.test(image), `${at} names a version of its image`);
  }
}
