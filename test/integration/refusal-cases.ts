/** How each row of the table of refusals is provoked, by name. Complete: a new row without a case does not compile. */
import type { Test } from "tap";
import { BOUNDS } from "../../src/approval/shelf.ts";
import type { RefusalCode } from "../../src/errors.ts";
import { mirrored, PUBLIC_URL, type Reply, startGateway, type TestGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { freePort } from "../support/redis.ts";
import { CLIENT, startTokenServer } from "../support/token-server.ts";
import { until } from "../support/until.ts";
import { result, type Script, type TestUpstream } from "../support/upstream.ts";
import {
  asksAlways,
  asksOnce,
  type Holding,
  retryOf,
  type sendAs,
  stateOf,
  TRANSFER,
  textOf,
} from "./rounds.ts";

/** Where a case is played. */
export interface Place {
  readonly t: Test;
  readonly gateway: TestGateway;
  readonly upstream: TestUpstream;
  readonly held: Holding;
  /** JSON text of the id to use. */
  readonly id: string;
  readonly sections: Sections;
  /** Sends a request under that id. */
  send(message?: typeof TRANSFER, options?: Parameters<typeof sendAs>[3]): Promise<Reply>;
}

type Sections = Readonly<Record<string, unknown>>;

/** One row. */
export interface Case {
  readonly script?: Script | "held";
  readonly sections?: Sections | ((t: Test, upstreamUrl: string) => Sections | Promise<Sections>);
  /** undefined where nobody is left to take an answer. */
  provoke(place: Place): Promise<Reply | undefined>;
  /** `Retry-After`, where it depends; else that of the table. */
  readonly retryAfter?: RegExp;
  /** False where the refusal comes before the body is read. */
  readonly hasId?: false;
  /** The true cause, in audit; undefined where there is no route and so no record. */
  readonly cause: string | undefined;
}

const perCaller = (perPrincipal: Sections): Sections => ({ limits: { perPrincipal } });
const deny = (policy: Sections): Sections => ({
  authorization: { default: "allow", policies: [{ id: "no", effect: "deny", ...policy }] },
});
const limits = (bounds: Sections): Sections => ({
  server: { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL, allowedHosts: ["127.0.0.1"], limits: bounds },
});
const route =
  (settings: Sections, upstream: Sections = {}) =>
  (_t: Test, url: string): Sections => ({
    routes: [{ path: "/mcp", upstream: { url, ...upstream }, ...settings }],
  });
const oneKey = (t: Test): Sections => ({
  keys: { primary: "k", ring: [{ id: "k", secret: { file: `${t.testdir({ key: "k".repeat(43) })}/key` } }] },
});
const withIssuer =
  (behaviour: "ok" | "error") =>
  async (t: Test): Promise<Sections> => {
    const issuer = await startIssuer();
    t.teardown(() => issuer.close());
    issuer.behaviour.jwks = behaviour;
    const token = await issuer.token({ aud: `${PUBLIC_URL}/mcp` });
    const settings = { issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, requiredScopes: ["mcp"] };
    return { authentication: { issuers: [settings] }, "x-token": token };
  };
const certificatesFrom = (proxy: string): Sections => {
  const header = { name: "client-cert", format: "rfc9440", from: [proxy], verified: "byProxy" };
  return { authentication: { mode: "anonymous", clientCertificates: { subject: "san.uri", header } } };
};
/** A route whose credential is granted by a token endpoint that answers so; nobody listens where it is to be away. */
const granted =
  (kind: "exchange" | "clientCredentials", answer: Sections | "away") =>
  async (t: Test, url: string): Promise<Sections> => {
    const issuer = await startIssuer();
    t.teardown(() => issuer.close());
    const server = await startTokenServer(t, issuer.jwksUrl);
    server.instead = () => (answer === "away" ? undefined : answer);
    const endpoint = answer === "away" ? `http://127.0.0.1:${await freePort()}/` : server.endpoint;
    process.env["SG_CLIENT_SECRET"] = CLIENT.secret;
    const client = { basic: { id: CLIENT.id, secret: { env: "SG_CLIENT_SECRET" } } };
    return {
      authentication: {
        mode: "anonymous",
        issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }],
      },
      routes: [
        { path: "/mcp", upstream: { url, credential: { [kind]: { endpoint, client, scope: ["mcp"] } } } },
      ],
      "x-token": await issuer.token({ aud: `${PUBLIC_URL}/mcp` }),
    };
  };
const bearer = ({ sections }: Place) => ({ headers: { authorization: `Bearer ${sections["x-token"]}` } });
/** A policy that asks about prompts, and wants somebody else's approval too; two callers. */
const quorum = async (t: Test): Promise<Sections> => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const tokens = ["u-1", "u-2"].map((sub) => issuer.token({ sub, aud: `${PUBLIC_URL}/mcp` }));
  const policy = { id: "ask", effect: "approve", approval: { quorum: {} } };
  return {
    authentication: { issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } }] },
    authorization: { default: "allow", policies: [policy] },
    "x-token": (await Promise.all(tokens)).join(" "),
  };
};
/** The user's answer to the gateway's own question about a prompt, sent by one of two callers. */
const answered = async (p: Place, answer: Sections, caller = 0, topic = "x", last = true) => {
  const [first, second] = String(p.sections["x-token"] ?? "").split(" ");
  const token = caller === 0 ? first : second;
  const options = token === undefined || token === "" ? {} : { token };
  const message = { method: "prompts/get", params: { name: "brief", arguments: { topic } } };
  const asked = await p.gateway.call(message, options);
  const [key = ""] = Object.keys(asked.json.result.inputRequests);
  const more = { requestState: asked.json.result.requestState, inputResponses: { [key]: answer } };
  const retry = { ...message, params: { ...message.params, ...more } };
  if (!last) return p.gateway.call(retry, options);
  return p.send(retry, token ? { headers: { authorization: `Bearer ${token}` } } : {});
};
const ACCEPT = { action: "accept", content: {} };
const DISCOVER = { method: "server/discover" };
const first = async (place: Place): Promise<string> => stateOf(await place.gateway.call(TRANSFER));
const plain = (headers: Record<string, string>) => (place: Place) => place.send(TRANSFER, { headers });
const broken: Script = (_arrived, response) => {
  response.writeHead(500, { "content-type": "text/html" }).end("<h1>SECRET at 10.1.2.3:5432</h1>");
};

export const CASES: Readonly<Record<RefusalCode, Case>> = {
  rate_limited: {
    sections: perCaller({ requests: { points: 1, per: "1h" } }),
    provoke: async (p) => {
      await p.gateway.call(TRANSFER);
      return p.send();
    },
    retryAfter: /^3[56]\d\d$/,
    cause: "caller_requests",
  },
  concurrency_limited: {
    script: "held",
    sections: perCaller({ concurrent: 1 }),
    provoke: async (p) => {
      const before = p.gateway.call(TRANSFER);
      const { arrived, response } = await p.held.next();
      const reply = await p.send();
      result(arrived, response, "{}");
      await before;
      return reply;
    },
    cause: "caller_requests",
  },
  streams_limited: {
    script: "held",
    sections: perCaller({ streams: 1 }),
    provoke: async (p) => {
      const listen = { method: "subscriptions/listen", params: { notifications: {} } };
      const leaving = new AbortController();
      const before = p.gateway.call(listen, { signal: leaving.signal });
      await p.held.next();
      const reply = await p.send(listen);
      leaving.abort();
      await before.catch(() => undefined);
      return reply;
    },
    cause: "caller_streams",
  },
  open_rounds_limited: {
    sections: perCaller({ openRounds: 1 }),
    provoke: async (p) => {
      await first(p);
      return p.send();
    },
    cause: "caller_rounds",
  },
  malformed_http: {
    provoke: ({ gateway, id }) =>
      gateway.send({
        headers: [
          ...Object.entries({ host: "127.0.0.1", ...mirrored(TRANSFER) }).flat(),
          ...["authorization", "Bearer a", "authorization", "Bearer b"],
        ],
        body: textOf(id, TRANSFER),
      }),
    hasId: false,
    cause: "repeated_header",
  },
  not_found: { provoke: (p) => p.send(TRANSFER, { path: "/other" }), hasId: false, cause: undefined },
  method_not_allowed: {
    provoke: ({ gateway, id }) =>
      gateway.send({ method: "PUT", headers: mirrored(TRANSFER), body: textOf(id, TRANSFER) }),
    hasId: false,
    cause: "http_method",
  },
  not_acceptable: { provoke: plain({ accept: "application/json" }), hasId: false, cause: "accept" },
  unsupported_media_type: {
    provoke: plain({ "content-type": "text/plain" }),
    hasId: false,
    cause: "media_type",
  },
  misdirected_host: { provoke: plain({ host: "evil.example" }), hasId: false, cause: "host" },
  forbidden_origin: { provoke: plain({ origin: "https://evil.example" }), hasId: false, cause: "origin" },
  body_too_large: {
    sections: limits({ body: "1KiB" }),
    provoke: (p) => p.send({ ...TRANSFER, params: { ...TRANSFER.params, pad: "x".repeat(1024) } }),
    hasId: false,
    cause: "body",
  },
  too_many_requests: {
    script: "held",
    sections: limits({ inFlight: 1 }),
    provoke: async (p) => {
      const before = p.gateway.call(TRANSFER);
      const { arrived, response } = await p.held.next();
      const reply = await p.send();
      result(arrived, response, "{}");
      await before;
      return reply;
    },
    cause: "limit",
  },
  too_many_streams: {
    script: "held",
    sections: limits({ streams: 1 }),
    provoke: async (p) => {
      const listen = { method: "subscriptions/listen" };
      const before = p.gateway.call(listen);
      const { arrived, response } = await p.held.next();
      const reply = await p.send(listen);
      result(arrived, response, "{}");
      await before;
      return reply;
    },
    cause: "limit",
  },
  invalid_client_certificate: {
    sections: certificatesFrom("127.0.0.1"),
    provoke: plain({ "client-cert": "none" }),
    hasId: false,
    cause: "certificate_malformed",
  },
  untrusted_header: {
    sections: certificatesFrom("192.0.2.1"),
    provoke: plain({ "client-cert": "none" }),
    hasId: false,
    cause: "peer",
  },
  unauthorized: { sections: withIssuer("ok"), provoke: (p) => p.send(), hasId: false, cause: "no_token" },
  insufficient_scope: {
    sections: withIssuer("ok"),
    provoke: (p) => p.send(TRANSFER, bearer(p)),
    hasId: false,
    cause: "scope",
  },
  parse_error: {
    provoke: ({ gateway }) => gateway.send({ headers: mirrored(TRANSFER), body: '{"id":1,"id":2}' }),
    hasId: false,
    cause: "duplicate_key",
  },
  invalid_request: {
    provoke: ({ gateway, id }) =>
      gateway.send({
        headers: mirrored(TRANSFER),
        body: `{"jsonrpc":"1.0","id":${id},"method":"tools/call"}`,
      }),
    cause: "jsonrpc",
  },
  invalid_params: { provoke: (p) => p.send({ method: "tools/call", params: { name: 7 } }), cause: "name" },
  missing_meta: {
    provoke: (p) => p.send({ ...TRANSFER, params: { ...TRANSFER.params, _meta: {} } }),
    cause: "protocol_version",
  },
  header_mismatch: { provoke: plain({ "mcp-name": "other" }), cause: "name_differs" },
  unsupported_version: {
    provoke: (p) => {
      const _meta = { "io.modelcontextprotocol/protocolVersion": "2027-01-01" };
      const headers = { "mcp-protocol-version": "2027-01-01" };
      return p.send({ ...TRANSFER, params: { ...TRANSFER.params, _meta } }, { headers });
    },
    cause: "version",
  },
  legacy_refused: {
    provoke: ({ gateway, id }) =>
      gateway.send({
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: `{"jsonrpc":"2.0","id":${id},"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
      }),
    cause: "legacy",
  },
  method_not_found: {
    sections: { authorization: { default: "deny" } },
    provoke: (p) => p.send({ method: "custom/thing" }),
    cause: "policy",
  },
  forbidden: {
    sections: deny({ methods: ["server/discover"] }),
    provoke: (p) => p.send(DISCOVER),
    cause: "policy",
  },
  unknown_tool: {
    sections: deny({ tools: ["transfer"] }),
    provoke: (p) => p.send(),
    cause: "policy",
  },
  arguments_forbidden: {
    sections: deny({ tools: ["transfer"], arguments: [{ path: "/nothing", present: false }] }),
    provoke: (p) => p.send(),
    cause: "policy",
  },
  approval_required: {
    sections: (_t, url) => ({
      authorization: { default: "allow", policies: [{ id: "ask", effect: "approve" }] },
      routes: [{ path: "/mcp", upstream: { url }, legacy: "pass" }],
    }),
    provoke: ({ gateway, id }) =>
      gateway.send({
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"transfer"}}`,
      }),
    cause: "legacy",
  },
  approval_declined: {
    sections: { authorization: { default: "allow", policies: [{ id: "ask", effect: "approve" }] } },
    provoke: (p) => answered(p, { action: "decline" }),
    cause: "decline",
  },
  approval_pending: {
    sections: quorum,
    provoke: (p) => answered(p, ACCEPT),
    retryAfter: /^\d+$/,
    cause: "others",
  },
  approval_recorded: {
    sections: quorum,
    provoke: async (p) => {
      await answered(p, ACCEPT, 0, "x", false);
      return answered(p, ACCEPT, 1);
    },
    cause: "approved",
  },
  approvals_limited: {
    sections: quorum,
    provoke: async (p) => {
      for (let topic = 0; topic < BOUNDS.waiting.ofOne; topic++)
        await answered(p, ACCEPT, 0, `x${topic}`, false);
      return answered(p, ACCEPT);
    },
    cause: "others",
  },
  unknown_task: {
    sections: route({ tasks: "pass" }),
    provoke: (p) => {
      const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
      const message = { method: "tasks/get", params: { taskId: "t-81" } };
      return p.send(message, { capabilities, headers: { "mcp-name": "t-81" } });
    },
    cause: "prefix",
  },
  unknown_prompt: {
    sections: deny({ prompts: ["*"] }),
    provoke: (p) => p.send({ method: "prompts/get", params: { name: "brief" } }),
    cause: "policy",
  },
  unknown_resource: {
    sections: deny({ resources: ["file:///*"] }),
    provoke: (p) => p.send({ method: "resources/read", params: { uri: "file:///etc" } }),
    cause: "policy",
  },
  missing_capability: { provoke: (p) => p.send(TRANSFER, { capabilities: {} }), cause: "undeclared" },
  question_forbidden: {
    sections: { capability: { allow: ["roots"] } },
    provoke: (p) => p.send(),
    cause: "elicitation.form",
  },
  invalid_request_state: { provoke: (p) => p.send(retryOf("sg1.AAAA")), cause: "encoding" },
  invalid_input_responses: {
    provoke: async (p) => p.send(retryOf(await first(p), { confirm: { action: "perhaps" } })),
    cause: "action",
  },
  already_redeemed: {
    provoke: async (p) => {
      const state = await first(p);
      await p.gateway.call(retryOf(state));
      return p.send(retryOf(state));
    },
    cause: "already_redeemed",
  },
  outcome_unknown: {
    sections: oneKey,
    provoke: async (p) => {
      const other = await startGateway(p.upstream.url, p.sections);
      p.t.teardown(() => other.close(0));
      return p.send(retryOf(stateOf(await other.call(TRANSFER))));
    },
    cause: "epoch_mismatch",
  },
  same_request_id: {
    provoke: async (p) => p.send(retryOf(stateOf(await p.send()))),
    cause: "same_request_id",
  },
  round_limit: {
    script: asksAlways,
    sections: { roundTrip: { maxRounds: 11 } },
    provoke: async (p) => {
      let state = await first(p);
      for (let round = 2; round <= 11; round++) state = stateOf(await p.gateway.call(retryOf(state)));
      return p.send(retryOf(state));
    },
    cause: "max_rounds",
  },
  upstream_fault: { script: broken, provoke: (p) => p.send(), cause: "status_500" },
  identity_required: {
    sections: granted("exchange", {}),
    provoke: (p) => p.send(),
    cause: "anonymous",
  },
  credential_refused: {
    sections: granted("exchange", { status: 400, error: "invalid_grant", error_description: "SECRET" }),
    provoke: (p) => p.send(TRANSFER, bearer(p)),
    cause: "grant_invalid_grant",
  },
  credential_unavailable: {
    sections: granted("clientCredentials", "away"),
    provoke: (p) => p.send(),
    cause: "grant_unreachable",
  },
  credential_fault: {
    sections: granted("clientCredentials", { status: 302, error: "SECRET" }),
    provoke: (p) => p.send(),
    cause: "grant_redirect",
  },
  upstream_unauthorized: {
    script: (_arrived, response) => {
      response.writeHead(401, { "www-authenticate": 'Bearer realm="SECRET"' }).end("SECRET");
    },
    provoke: (p) => p.send(),
    cause: "status_401",
  },
  upstream_unreachable: {
    provoke: async (p) => {
      await p.upstream.close();
      return p.send();
    },
    cause: "connection_refused",
  },
  upstream_lost: {
    script: (_arrived, response) => void response.socket?.resetAndDestroy(),
    provoke: (p) => p.send(),
    cause: "connection_lost",
  },
  upstream_timeout: {
    script: "held",
    sections: route({}, { timeouts: { headers: "20ms" } }),
    provoke: (p) => p.send(),
    cause: "headers_timeout",
  },
  store_unavailable: {
    sections: async (t) => ({
      ...oneKey(t),
      redis: { url: `redis://127.0.0.1:${await freePort()}` },
      redemption: { store: "redis" },
    }),
    provoke: (p) => p.send(),
    cause: "overrides_never_read",
  },
  shutting_down: {
    script: "held",
    provoke: async (p) => {
      const before = p.gateway.call(TRANSFER);
      const { arrived, response } = await p.held.next();
      const closing = p.gateway.close(60_000);
      const reply = await p.send();
      result(arrived, response, "{}");
      await before;
      await closing;
      return reply;
    },
    hasId: false,
    cause: "draining",
  },
  configuration_changed: {
    script: "held",
    provoke: async (p) => {
      const reply = p.send({ method: "subscriptions/listen", params: { notifications: {} } });
      await p.held.next();
      await p.gateway.configure({ authorization: { default: "deny" } });
      return reply;
    },
    cause: "configuration_changed",
  },
  overloaded: {
    script: "held",
    sections: limits({ inFlight: 1 }),
    provoke: async (p) => {
      const before = p.gateway.call(TRANSFER);
      const { arrived, response } = await p.held.next();
      const reply = await p.send(DISCOVER);
      result(arrived, response, "{}");
      await before;
      return reply;
    },
    cause: "limit",
  },
  issuer_unavailable: {
    sections: withIssuer("error"),
    provoke: (p) => p.send(TRANSFER, bearer(p)),
    hasId: false,
    cause: "issuer_unavailable",
  },
  cancelled: {
    script: "held",
    provoke: async (p) => {
      const leaving = new AbortController();
      const reply = p.send(TRANSFER, { signal: leaving.signal }).catch(() => undefined);
      const { arrived } = await p.held.next();
      leaving.abort();
      await arrived.closed;
      await until(() => p.gateway.audit.length > 0);
      return reply;
    },
    cause: "client_left",
  },
  internal: {
    script: asksOnce,
    provoke: (p) => {
      // The clock fails while a state is being sealed, and only there.
      const { now } = p.gateway.clock;
      Object.defineProperty(p.gateway.clock, "now", {
        get: () => {
          if (new Error().stack?.includes("sealRound")) throw new Error("SECRET at 10.1.2.3:5432");
          return now;
        },
      });
      return p.send();
    },
    cause: "unexpected",
  },
};
