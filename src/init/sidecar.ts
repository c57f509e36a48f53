/** Manifests for the gateway as a native sidecar (Kubernetes 1.29) of an MCP server, put together by kustomize. Pure. */
import { HEALTH } from "./compose.ts";
import type { Facts, PlannedFile } from "./facts.ts";

const FOLDER = "/etc/sealgate";

/** kustomization.yaml and what it names. The ConfigMap and the Secrets are made of the files beside it. */
export function sidecarFiles(facts: Facts): readonly PlannedFile[] {
  return [
    { path: "kustomization.yaml", text: kustomization(facts), secret: false },
    { path: "deployment.yaml", text: deployment(facts), secret: false },
    { path: "service.yaml", text: SERVICE, secret: false },
    { path: "network-policy.yaml", text: NETWORK_POLICY, secret: false },
  ];
}

const lines = (...all: readonly string[]): string => `${all.join("\n")}\n`;

function kustomization({ keyId, credential, version }: Facts): string {
  const upstream =
    credential === undefined ? [] : ["  - name: sealgate-upstream", "    files: [upstream/token]"];
  return lines(
    "## kubectl apply --kustomize .",
    "apiVersion: kustomize.config.k8s.io/v1beta1",
    "kind: Kustomization",
    "resources:",
    "  - deployment.yaml",
    "  - service.yaml",
    "  - network-policy.yaml",
    "configMapGenerator:",
    "  - name: sealgate-config",
    "    files: [config/sealgate.yaml]",
    "secretGenerator:",
    "  - name: sealgate-keys",
    `    files: [keys/${keyId}]`,
    ...upstream,
    "generatorOptions:",
    "  ## One name for all versions: a running gateway takes up a change by itself, all or nothing.",
    "  disableNameSuffixHash: true",
    "images:",
    "  - name: sealgate",
    "    newName: registry.example.com/sealgate",
    `    newTag: "${version}"`,
    "  - name: mcp-server",
    "    newName: registry.example.com/mcp-server",
    '    newTag: "1"',
  );
}

function deployment({ seenUpstream, credential, listen }: Facts): string {
  const folders = ["config", "keys", ...(credential === undefined ? [] : ["upstream"])];
  const port = listen.slice(listen.lastIndexOf(":") + 1);
  return lines(
    "## One pod: states in memory are good in one process only. For more, see redemption in config/sealgate.yaml.",
    "apiVersion: apps/v1",
    "kind: Deployment",
    "metadata:",
    "  name: sealgate",
    ...LABELS.map((line) => `  ${line}`),
    "spec:",
    "  replicas: 1",
    "  strategy: { type: Recreate }",
    "  selector:",
    "    matchLabels: { app.kubernetes.io/name: sealgate }",
    "  template:",
    "    metadata:",
    ...LABELS.map((line) => `      ${line}`),
    "    spec:",
    "      automountServiceAccountToken: false",
    "      enableServiceLinks: false",
    "      ## More than server.shutdownGrace and five seconds, with time for the server.",
    "      terminationGracePeriodSeconds: 60",
    "      securityContext:",
    "        runAsNonRoot: true",
    "        runAsUser: 1000",
    "        runAsGroup: 1000",
    "        fsGroup: 1000",
    "        seccompProfile: { type: RuntimeDefault }",
    "      initContainers:",
    "        - name: sealgate",
    "          image: sealgate",
    "          restartPolicy: Always",
    `          args: [serve, --config, ${FOLDER}/config/sealgate.yaml]`,
    "          ports:",
    "            - name: http",
    "              protocol: TCP",
    `              containerPort: ${port}`,
    ...probe("startupProbe", [], { periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 60 }),
    ...probe("livenessProbe", [], { periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 6 }),
    ...probe("readinessProbe", ["--ready"], { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 2 }),
    "          resources:",
    "            requests: { cpu: 250m, memory: 192Mi }",
    "            limits: { memory: 512Mi }",
    ...RESTRICTED,
    "          volumeMounts:",
    ...folders.flatMap((name) => [
      `            - name: ${name}`,
      `              mountPath: ${FOLDER}/${name}`,
      "              readOnly: true",
    ]),
    "      containers:",
    "        ## Your server, as it is. It must listen on 127.0.0.1 only: whoever reaches it otherwise goes around the gateway.",
    "        - name: mcp-server",
    "          image: mcp-server",
    "          ## It runs as user 1000, as the pod says; an image made for another user needs its runAsUser in securityContext.",
    `          ## The gateway reaches it at ${seenUpstream}`,
    ...RESTRICTED,
    "          volumeMounts:",
    "            ## Its root cannot be written; what else it writes to needs a mount of its own.",
    "            - name: tmp",
    "              mountPath: /tmp",
    "      volumes:",
    "        - name: tmp",
    "          emptyDir: {}",
    ...folders.flatMap((name) => volume(name)),
  );
}

const LABELS = ["labels:", "  app.kubernetes.io/name: sealgate"];

const RESTRICTED = [
  "          securityContext:",
  "            allowPrivilegeEscalation: false",
  "            readOnlyRootFilesystem: true",
  "            capabilities: { drop: [ALL] }",
];

/** Asked inside of the container, so that the admin listener can stay on loopback. */
function probe(
  name: string,
  more: readonly string[],
  times: Readonly<Record<string, number>>,
): readonly string[] {
  return [
    `          ${name}:`,
    `            exec: { command: [${[...HEALTH, ...more].join(", ")}] }`,
    ...Object.entries(times).map(([key, value]) => `            ${key}: ${value}`),
  ];
}

function volume(name: string): readonly string[] {
  if (name === "config") return ["        - name: config", "          configMap: { name: sealgate-config }"];
  return [
    `        - name: ${name}`,
    "          ## 0440, in decimal since readers of YAML differ in octal.",
    `          secret: { secretName: sealgate-${name}, defaultMode: 288 }`,
  ];
}

const SERVICE = lines(
  "## For clients, through an ingress of yours that ends TLS and passes Host.",
  "apiVersion: v1",
  "kind: Service",
  "metadata:",
  "  name: sealgate",
  ...LABELS.map((line) => `  ${line}`),
  "spec:",
  "  type: ClusterIP",
  "  selector: { app.kubernetes.io/name: sealgate }",
  "  ports:",
  "    - name: http",
  "      appProtocol: http",
  "      protocol: TCP",
  "      port: 80",
  "      targetPort: http",
);

const NETWORK_POLICY = lines(
  "## Closes the way around the gateway: nothing but its port is reached from outside of the pod, whatever the server binds to.",
  "## It works only with a network plugin that enforces NetworkPolicy.",
  "apiVersion: networking.k8s.io/v1",
  "kind: NetworkPolicy",
  "metadata:",
  "  name: sealgate",
  ...LABELS.map((line) => `  ${line}`),
  "spec:",
  "  podSelector:",
  "    matchLabels: { app.kubernetes.io/name: sealgate }",
  "  policyTypes: [Ingress]",
  "  ingress:",
  "    - ports:",
  "        - protocol: TCP",
  "          port: http",
);
