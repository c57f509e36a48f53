/**
 * A small real authorization server with a token endpoint: token exchange (RFC 8693) and client credentials, on loopback and port
 * 0. It authenticates its client, verifies the token that is exchanged, and misbehaves when told to.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createLocalJWKSet, createRemoteJWKSet, decodeJwt, type JWK, jwtVerify } from "jose";
import { type SigningKey, sign, signingKey } from "./issuer.ts";

/** One request as it arrived. */
export interface GrantRequest {
  readonly headers: IncomingHttpHeaders;
  readonly form: URLSearchParams;
}

/** An answer in place of the honest one; undefined for the honest one. */
export type Instead = (
  request: GrantRequest,
  response: ServerResponse,
) =>
  | Record<string, unknown>
  | undefined
  | "answered"
  | Promise<Record<string, unknown> | undefined | "answered">;

export interface TokenServer {
  readonly endpoint: string;
  /** Where its own key set is. */
  readonly jwksUrl: string;
  /** Requests so far, the oldest first. */
  readonly requests: GrantRequest[];
  /** What it has granted so far. */
  readonly granted: string[];
  /**
   * Replaces the answer: members replace those of an honest one (undefined removes), with `status` for HTTP. A promise is waited
   * for, so that a test decides when it answers.
   */
  instead: Instead;
  /** Seconds. */
  lifetime: number;
  close(): Promise<void>;
}

export const CLIENT = { id: "sealgate: the gateway", secret: "s3cret+of/the gateway" };

/**
 * Starts the server.
 * @param subjects where keys of the tokens are that it exchanges
 * @param clientKey for private_key_jwt in place of the secret
 */
export async function startTokenServer(
  t: { teardown(run: () => unknown): void },
  subjects: string,
  { clientKey, now = Date.now }: { readonly clientKey?: JWK; readonly now?: () => number } = {},
): Promise<TokenServer> {
  const key: SigningKey = await signingKey("ES256");
  const find = createRemoteJWKSet(new URL(subjects));
  const server = createServer((request, response) => {
    if (request.url === "/jwks") {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ keys: [key.publicJwk] }));
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      void serve({ headers: request.headers, form }, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(async () => it.close());

  async function serve(request: GrantRequest, response: ServerResponse): Promise<void> {
    it.requests.push(request);
    const replaced = await it.instead(request, response);
    if (replaced === "answered") return;
    const { status = 200, ...body } = { ...(await honest(request)), ...replaced } as Record<string, unknown>;
    response.writeHead(Number(status), { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(body));
  }

  async function honest({ headers, form }: GrantRequest): Promise<Record<string, unknown>> {
    if (!(await isClient(headers, form))) return { status: 401, error: "invalid_client" };
    const iat = Math.floor(now() / 1000);
    const claims = { iss: origin, aud: form.getAll("audience"), scope: form.get("scope") ?? undefined, iat };
    const common = { ...claims, exp: iat + it.lifetime, jti: String(it.requests.length) };
    if (form.get("grant_type") === "client_credentials") return issue({ ...common, sub: CLIENT.id });
    if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:token-exchange")
      return { status: 400, error: "unsupported_grant_type" };
    try {
      const { payload } = await jwtVerify(form.get("subject_token") ?? "", find, {
        currentDate: new Date(now()),
      });
      return await issue({ ...common, sub: payload.sub, act: { sub: CLIENT.id } });
    } catch {
      return { status: 400, error: "invalid_request", error_description: "the subject token is no good" };
    }
  }

  async function issue(claims: Record<string, unknown>): Promise<Record<string, unknown>> {
    const token = await sign(claims, key);
    it.granted.push(token);
    return {
      access_token: token,
      issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
      token_type: "Bearer",
      expires_in: it.lifetime,
    };
  }

  async function isClient(headers: IncomingHttpHeaders, form: URLSearchParams): Promise<boolean> {
    if (clientKey !== undefined) {
      const assertion = form.get("client_assertion") ?? "";
      return jwtVerify(assertion, createLocalJWKSet({ keys: [clientKey] }), {
        issuer: form.get("client_id") ?? "",
        audience: it.endpoint,
        requiredClaims: ["exp", "jti", "sub"],
        currentDate: new Date(now()),
      }).then(
        () => true,
        () => false,
      );
    }
    const [, basic = ""] = /^Basic (.+)$/.exec(headers.authorization ?? "") ?? [];
    const [id = "", secret = ""] = Buffer.from(basic, "base64").toString().split(":");
    const decode = (part: string): string => decodeURIComponent(part.replaceAll("+", " "));
    const byHeader = decode(id) === CLIENT.id && decode(secret) === CLIENT.secret;
    return byHeader || (form.get("client_id") === CLIENT.id && form.get("client_secret") === CLIENT.secret);
  }

  const it: TokenServer = {
    endpoint: `${origin}/token`,
    jwksUrl: `${origin}/jwks`,
    requests: [],
    granted: [],
    instead: () => undefined,
    lifetime: 300,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return it;
}

/** The `sub` of a bearer token as it arrived at a server. */
export const subjectOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : decodeJwt(authorization.replace(/^Bearer /, "")).sub;
