/** docker-compose.yml for one gateway before a server that runs elsewhere. Pure. */
import type { Facts } from "./facts.ts";

/** The text of the file. It stands beside the folders `config`, `keys` and, with a credential, `upstream`. */
export function composeFile({ version, user, listen, credential, seenUpstream }: Facts): string {
  const port = listen.slice(listen.lastIndexOf(":") + 1);
  const onHost = new URL(seenUpstream).hostname === HOST;
  const lines = [
    `## One gateway. The image: \`docker build --tag sealgate:${version}\` in a checkout of Sealgate.`,
    "name: sealgate",
    "services:",
    "  sealgate:",
    `    image: sealgate:${version}`,
    "    command: [serve, --config, /etc/sealgate/config/sealgate.yaml]",
    "    ## The owner of the secret files, which nobody else can read.",
    `    user: "${user}"`,
    "    read_only: true",
    "    cap_drop: [ALL]",
    '    security_opt: ["no-new-privileges:true"]',
    "    ## Loopback of this machine only; put a proxy that ends TLS before it, or change server.publicUrl with it.",
    "    ports:",
    `      - "127.0.0.1:${port}:${port}"`,
    "    volumes:",
    ...["config", "keys", ...(credential === undefined ? [] : ["upstream"])].flatMap(mount),
    ...(onHost
      ? [
          "    ## The server runs on this machine. It must listen on the address of the bridge too, not only on loopback; keep",
          "    ## others away from its port, or run it as a service of this file that publishes none:",
          "    extra_hosts:",
          `      - "${HOST}:host-gateway"`,
        ]
      : []),
    "    healthcheck:",
    `      test: [CMD, ${HEALTH.join(", ")}]`,
    "      interval: 10s",
    "      timeout: 5s",
    "      start_period: 20s",
    "      retries: 3",
    "    ## Longer than server.shutdownGrace and five seconds.",
    "    stop_grace_period: 40s",
    "    restart: unless-stopped",
  ];
  if (onHost) {
    lines.push(
      "  #mcp-server:",
      "  #  image: YOUR-SERVER",
      "  #  ## Without ports: only the gateway reaches it, as http://mcp-server:PORT/PATH in config/sealgate.yaml.",
      "  #  restart: unless-stopped",
    );
  }
  return `${lines.join("\n")}\n`;
}

/** What a container calls the machine it runs on. */
export const HOST = "host.docker.internal";

/** How the gateway is asked for its health inside of its container. */
export const HEALTH = [
  "node",
  "/app/dist/main.js",
  "health",
  "--config",
  "/etc/sealgate/config/sealgate.yaml",
];

function mount(folder: string): readonly string[] {
  return [
    "      - type: bind",
    `        source: ./${folder}`,
    `        target: /etc/sealgate/${folder}`,
    "        read_only: true",
    "        bind: { create_host_path: false }",
  ];
}
