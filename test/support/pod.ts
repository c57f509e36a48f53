/**
 * The gateway's container as the manifests start it, for tests: a process of its own with the configuration of
 * kubernetes/overlays/standalone, its mounts in folders that are swapped as the kubelet does, and the addresses of the test.
 */
import { join } from "node:path";
import { stringify } from "yaml";
import { exchange, type Message, mirrored, type Reply } from "./gateway.ts";
import type { TestIssuer } from "./issuer.ts";
import { overlay, partsOf, render } from "./manifests.ts";
import { type Mount, mount } from "./mount.ts";
import { type GatewayProcess, runProcess } from "./process.ts";

/** The manifests of the form that is simulated. */
export const { config: MANIFEST, gateway: CONTAINER } = partsOf(render(overlay("standalone")));

/** The name clients use, and the audience their tokens need. */
export const HOST = new URL(MANIFEST.server.publicUrl).host;
export const RESOURCE = `${MANIFEST.server.publicUrl}${MANIFEST.routes[0].path}`;

/** What stands around a pod. */
export interface Cluster {
  readonly redis: { readonly port: number; readonly password: string };
  readonly issuer: TestIssuer;
  readonly upstream: { readonly url: string };
}

export interface Pod {
  readonly process: GatewayProcess;
  /** The mounted Secret with the keys. */
  readonly keys: Mount;
  /** Where it is reached, host and port, as a Service would. */
  readonly url: string;
  /** Updates the ConfigMap: the same configuration with another `keys` section, on the same folder. */
  configure(keys: Readonly<Record<string, unknown>>): Promise<void>;
  /** The headers of a message, as a client behind the ingress sends them. */
  headers(message: Message): Record<string, string>;
  /** Sends a message with a body as written, as a client behind the ingress does. */
  send(message: Message, body: string): Promise<Reply>;
  /** Asks the admin port for a path, by the pod's address as the kubelet does. */
  probe(path: string): Promise<Reply>;
}

/** Starts a pod; it ends with the test. `keys`: what the Secret holds. */
export async function startPod(
  t: { teardown(run: () => unknown): void },
  { redis, issuer, upstream }: Cluster,
  keys: Readonly<Record<string, string>>,
): Promise<Pod> {
  const secret = await mount(t, keys);
  const password = await mount(t, { password: redis.password });
  const text = (section: Readonly<Record<string, unknown>>): string => {
    const [route] = MANIFEST.routes;
    const { tls: _tls, ...rest } = MANIFEST.redis;
    return stringify({
      ...MANIFEST,
      server: { ...MANIFEST.server, listen: MANIFEST.server.listen.replace(/:\d+$/, ":0") },
      admin: { ...MANIFEST.admin, listen: MANIFEST.admin.listen.replace(/:\d+$/, ":0") },
      redis: {
        ...rest,
        url: `redis://127.0.0.1:${redis.port}`,
        password: { file: join(password.folder, "password") },
      },
      keys: { folder: secret.folder, ...section },
      authentication: { issuers: [{ ...MANIFEST.authentication.issuers[0], issuer: issuer.issuer }] },
      routes: [{ ...route, upstream: { ...route.upstream, url: upstream.url } }],
    });
  };
  const [primary = ""] = Object.keys(keys);
  const config = await mount(t, { "sealgate.yaml": text({ primary }) });
  const process = await runProcess(t, join(config.folder, "sealgate.yaml"));
  // It listens on all addresses of the pod.
  const local = (address = ""): string => `http://127.0.0.1:${new URL(address).port}`;
  const [url, adminUrl] = [local(process.url), local(process.adminUrl)];
  const token = await issuer.token({ aud: RESOURCE });
  const headers = (message: Message) => ({
    ...mirrored(message),
    host: HOST,
    authorization: `Bearer ${token}`,
  });
  return {
    process,
    keys: secret,
    url,
    configure: (section) => config.update({ "sealgate.yaml": text(section) }),
    headers,
    send: (message, body) => exchange(url, { headers: headers(message), body }),
    probe: (path) => exchange(adminUrl, { path, method: "GET", headers: { host: "10.1.2.3:9090" } }),
  };
}
