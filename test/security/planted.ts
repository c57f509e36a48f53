/** Secrets that are planted everywhere, and the search for them in everything that is written or refused. */
import type { Test } from "tap";
import { PUBLIC_URL, type Reply, type TestGateway } from "../support/gateway.ts";
import { ownRedis } from "../support/redis.ts";
import { type Scene, setScene } from "./scene.ts";

/** In no other word; its hex and base64 forms are searched for too. */
export const MARK = "Zq7xPlantedSecret";
const BYTES = Buffer.from(MARK);
const BASE64 = [0, 1, 2].map((shift) =>
  Buffer.concat([Buffer.alloc(shift), BYTES])
    .toString("base64")
    .slice(shift + 2, -4),
);
const FOUND = new RegExp([MARK, BYTES.toString("hex"), ...BASE64].join("|"), "gi");

let planted = 0;
/** A secret of its own at every call. */
export const secret = (): string => `${MARK}${planted++}`;

/** A gateway whose operator has filled every secret setting, and what it refused. */
export interface Plantation {
  readonly scene: Scene;
  readonly gateway: TestGateway;
  readonly redis: Awaited<ReturnType<typeof ownRedis>>;
  /** A good token, with planted claims. */
  readonly token: string;
  /** A token of the issuer for nobody here. */
  readonly forged: string;
  /** The configuration sections of another such gateway. */
  sections(change: { readonly password?: string; readonly jwks?: string }): Record<string, unknown>;
  /** A call with something planted in every member and header that may be free text. */
  call(method?: string, params?: object, bearer?: string): Promise<Reply>;
  /** Puts what a refusal says on record, without the id that the caller chose. */
  keep(reply: Reply): Reply;
  /** Further text that has to be clean. */
  readonly kept: string[];
  /** Searches log, audit, admin answers and refusals. */
  search(t: Test): Promise<void>;
}

/** Sets the scene. */
export async function plant(t: Test): Promise<Plantation> {
  const redis = await ownRedis(t, ["--requirepass", `${MARK}-redis-password`]);
  process.env["SG_SECRET_REDIS"] = `${MARK}-redis-password`;
  process.env["SG_SECRET_WRONG"] = `${MARK}-wrong-password`;
  process.env["SG_SECRET_KEY"] = `${MARK}-key-that-is-long-enough-for-a-ring`;
  process.env["SG_SECRET_UPSTREAM"] = `${MARK}-upstream-credential`;
  const sectionsOf = (url: string, issuer: string, jwks: string, password = "SG_SECRET_REDIS") => ({
    admin: { listen: "127.0.0.1:0" },
    log: { level: "debug", access: "on" },
    redis: { url: redis.url, password: { env: password } },
    redemption: { store: "redis" },
    keys: { primary: "k", ring: [{ id: "k", secret: { env: "SG_SECRET_KEY" } }] },
    authentication: { issuers: [{ issuer, jwks: { url: jwks } }] },
    routes: [
      {
        path: "/mcp",
        legacy: "pass",
        upstream: {
          url: `${url}?key=${MARK}-in-the-url`,
          credential: { bearer: { env: "SG_SECRET_UPSTREAM" } },
        },
      },
    ],
  });
  const scene = await setScene(t, {
    users: true,
    sections: (url, { issuer, jwksUrl }) => sectionsOf(url, issuer, jwksUrl),
  });
  const { gateway, issuer } = scene;
  const aud = `${PUBLIC_URL}/mcp`;
  const token = await issuer.token({ sub: "u-1001", aud, email: secret(), scope: "files:read" });
  const forged = await issuer.token({ sub: "u-9", aud: secret() });
  const kept: string[] = [];
  const it: Plantation = {
    scene,
    gateway,
    redis,
    token,
    forged,
    sections: ({ password, jwks = issuer.jwksUrl }) =>
      sectionsOf(scene.upstreamUrl, issuer.issuer, jwks, password),
    call: (method = "tools/call", params = {}, bearer = token) =>
      gateway.call(
        {
          id: secret(),
          method,
          params: {
            name: "t",
            arguments: { [MARK]: `${MARK}-argument` },
            _meta: meta(),
            [`${MARK}-more`]: MARK,
            ...params,
          },
        },
        { token: bearer, headers: headers() },
      ),
    keep(reply) {
      const own = typeof reply.json?.id === "string" ? JSON.stringify(reply.json.id) : "";
      if (reply.status >= 400 || reply.json?.error !== undefined)
        kept.push(JSON.stringify([reply.status, reply.headers, reply.body.replace(own, "")]));
      return reply;
    },
    kept,
    async search(t) {
      const places = {
        log: gateway.logged(),
        audit: JSON.stringify(gateway.audit),
        admin: await adminPages(gateway.adminUrl),
        refusals: kept.join("\n"),
      };
      for (const [place, text] of Object.entries(places)) {
        t.ok(text.length > 300, `${place} holds something`);
        const hits = [...text.matchAll(FOUND)].map(({ index }) =>
          text.slice(Math.max(0, index - 160), index + 60),
        );
        t.same(hits, [], place);
        t.notMatch(text, /sg1\.[\w-]{8}/, "no state");
        for (const part of [token, forged].flatMap((whole) => whole.split(".").slice(1)))
          t.notOk(text.includes(part), `no token in ${place}`);
      }
      t.ok(planted > 100, `${planted} planted`);
    },
  };
  // A gateway promises no state before it has read the store's epoch.
  for (let tries = 0; tries < 2_000 && (await it.call()).status !== 200; tries++);
  return it;
}

/** What the admin listener shows. */
export async function adminPages(url: string | undefined): Promise<string> {
  const paths = ["/healthz", "/readyz", "/metrics", `/${secret()}`];
  const pages = paths.map(async (path) => (await fetch(`${url}${path}`)).text());
  return (await Promise.all(pages)).join("\n");
}

/** Headers with something in each that a client may fill. */
export function headers(): Record<string, string> {
  return {
    cookie: secret(),
    "x-api-key": secret(),
    "user-agent": secret(),
    "mcp-param-x": secret(),
    traceparent: secret(),
    "last-event-id": secret(),
    "x-forwarded-for": secret(),
    [`x-${secret()}`]: secret(),
  };
}

function meta(): Record<string, unknown> {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: secret(), version: secret() },
    "io.modelcontextprotocol/clientCapabilities": {
      elicitation: { form: {} },
      extensions: { [`${secret()}/x`]: {} },
    },
    progressToken: secret(),
    [secret()]: secret(),
  };
}
