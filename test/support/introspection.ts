/**
 * A small introspection server for tests (RFC 7662), on loopback and port 0: it knows the tokens it is given, counts what it is
 * asked, and can misbehave in every way.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How it answers. `hang` never does; `drip` sends a byte at a time without end; the rest is what stands there. */
export type IntrospectionBehaviour =
  | "ok"
  | "hang"
  | "drip"
  | "huge"
  | "redirect"
  | "gzip"
  | "html"
  | "broken"
  | "twins"
  | "array"
  | "text-active"
  | "no-active"
  | "jwt"
  | "status-400"
  | "status-401"
  | "status-429"
  | "status-500";

export interface IntrospectionCall {
  readonly form: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

export interface TestIntrospection {
  readonly url: string;
  /** By token: the claims beside `active: true`. All others are not active. */
  readonly tokens: Map<string, Record<string, unknown>>;
  readonly calls: IntrospectionCall[];
  behaviour: IntrospectionBehaviour;
  /** While set, no answer leaves before it resolves. */
  gate: Promise<void> | undefined;
  close(): Promise<void>;
}

/** Starts one. */
export async function startIntrospection(): Promise<TestIntrospection> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      if (request.url === "/moved") {
        response.writeHead(200, JSON_TYPE).end('{"active":true}');
        return;
      }
      const form = new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
      it.calls.push({ form, headers: request.headers });
      await it.gate;
      const claims = it.tokens.get(form.get("token") ?? "");
      const answer = claims === undefined ? { active: false } : { active: true, ...claims };
      respond(response, it.behaviour, answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const it: TestIntrospection = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/introspect`,
    tokens: new Map(),
    calls: [],
    behaviour: "ok",
    gate: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return it;
}

const JSON_TYPE = { "content-type": "application/json;charset=UTF-8" };

function respond(response: ServerResponse, behaviour: IntrospectionBehaviour, answer: object): void {
  const json = JSON.stringify(answer);
  if (behaviour === "hang") return;
  if (behaviour === "drip") {
    response.writeHead(200, JSON_TYPE);
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
    return;
  }
  const status = Number(/^status-(\d+)$/.exec(behaviour)?.[1] ?? (behaviour === "redirect" ? 307 : 200));
  response.writeHead(status, { ...JSON_TYPE, ...HEADERS[behaviour] }).end(bodyOf(behaviour, json, answer));
}

const HEADERS: Partial<Record<IntrospectionBehaviour, Record<string, string>>> = {
  redirect: { location: "/moved" },
  gzip: { "content-encoding": "gzip" },
  html: { "content-type": "text/html" },
  jwt: { "content-type": "application/token-introspection+jwt" },
};

function bodyOf(behaviour: IntrospectionBehaviour, json: string, answer: object): string {
  const open = json.slice(0, -1);
  const bodies: Partial<Record<IntrospectionBehaviour, string>> = {
    huge: `${open},"pad":"${"x".repeat(100 * 1024)}"}`,
    broken: open,
    twins: `${open},"active":true}`,
    array: `[${json}]`,
    "text-active": JSON.stringify({ ...answer, active: "true" }),
    "no-active": JSON.stringify({ ...answer, active: undefined }),
  };
  return bodies[behaviour] ?? json;
}
