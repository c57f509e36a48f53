/** What tests of overrides have in common: gateways with the admin verbs open, and requests to those. */
import type { Test } from "tap";
import { stringify } from "yaml";
import { exchange, PUBLIC_URL, type Reply, startGateway, type TestGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

export const TOKEN = "an-operator's-token-4711";
export const KEY = "k".repeat(43);

/** The sections of a gateway on a Redis, or with the memory store; key and token are files of the test's folder. */
export function operated(t: Test, redisUrl?: string): Record<string, unknown> {
  const folder = t.testdir({ token: `${TOKEN}\n`, key: KEY });
  return {
    admin: { listen: "127.0.0.1:0", token: { file: `${folder}/token` } },
    ...(redisUrl === undefined
      ? {}
      : {
          redis: { url: redisUrl },
          redemption: { store: "redis" },
          keys: { primary: "k", ring: [{ id: "k", secret: { file: `${folder}/key` } }] },
        }),
  };
}

export const ISSUER = "https://id.example";

/** The text of a configuration for commands, that fits `operated(t, redisUrl)`; its key is the file `key` beside it. */
export function commandConfig(
  redisUrl: string,
  upstream: string,
  change: Readonly<Record<string, unknown>> = {},
): string {
  return stringify({
    version: 1,
    server: { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL },
    authentication: { issuers: [{ issuer: ISSUER }] },
    authorization: { default: "allow" },
    redis: { url: redisUrl },
    keys: { primary: "k", ring: [{ id: "k", secret: { file: "key" } }] },
    routes: [{ path: "/mcp", upstream: { url: upstream } }],
    ...change,
  });
}

/** Starts a gateway that ends with the test, and waits until it knows its store. */
export async function openGateway(
  t: Test,
  upstream: string,
  sections: Readonly<Record<string, unknown>>,
  options: { readonly clock?: number } = {},
): Promise<TestGateway> {
  const gateway = await startGateway(upstream, sections, options);
  t.teardown(() => gateway.close(0));
  await until(async () => (await inForce(gateway)).age !== Number.POSITIVE_INFINITY);
  await until(async () => (await ask(gateway, "/readyz")).json.store === "ok");
  return gateway;
}

/** One request to the admin listener. */
export function ask(
  gateway: Pick<TestGateway, "adminUrl">,
  path: string,
  options: {
    readonly method?: string;
    readonly body?: unknown;
    readonly token?: string | undefined;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<Reply> {
  const { method = options.body === undefined ? "GET" : "POST", body } = options;
  const token = "token" in options ? options.token : TOKEN;
  return exchange(gateway.adminUrl ?? "", {
    method,
    path,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

/** Sets an entry and answers with it. */
export async function set(
  gateway: TestGateway,
  kind: "revocations" | "grants",
  body: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>> & { readonly id: string }> {
  const reply = await ask(gateway, `/v1/${kind}`, { body });
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.body}`);
  return reply.json;
}

/** What a gateway has in force, as its metrics say. */
export async function inForce(gateway: Pick<TestGateway, "adminUrl">): Promise<{
  readonly revocation: number;
  readonly allow: number;
  readonly deny: number;
  readonly age: number;
}> {
  const { body } = await ask(gateway, "/metrics", { token: undefined });
  const value = (sample: string): number => {
    const line = body.split("\n").find((text) => text.startsWith(`${sample} `));
    const text = line?.slice(line.lastIndexOf(" ") + 1) ?? "NaN";
    return text === "+Inf" || text === "Infinity" ? Number.POSITIVE_INFINITY : Number(text);
  };
  const kind = (name: string): number => value(`sealgate_overrides{kind="${name}"}`);
  return {
    revocation: kind("revocation"),
    allow: kind("allow"),
    deny: kind("deny"),
    age: value("sealgate_overrides_age_seconds"),
  };
}
