/**
 * A small OAuth issuer for the demo: discovery documents, a key set and a token endpoint that gives a token to whoever asks.
 * The keys are real (ES256, made at start) and die with the process. It authenticates nobody: never more than a demo.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { type Address, listenNear } from "./ports.ts";

/** A running issuer. */
export interface Issuer {
  /** Its name, the `iss` of its tokens: an origin without a trailing slash. */
  readonly issuer: string;
  /** A signed access token (RFC 9068) for `subject` at `resource`, the URL that becomes its audience. */
  token(subject: string, resource: string): Promise<string>;
  close(): Promise<void>;
}

const TOKEN_SECONDS = 3600;
const CLIENT = "sealgate-demo";

/**
 * Starts an issuer at `wanted` or near it.
 * @param now Unix milliseconds; the clock of its tokens
 * @param name the `iss` of its tokens, where it is reached under another name than its address; an origin
 */
export async function startIssuer(wanted: Address, now: () => number, name?: string): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const kid = randomUUID();
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" }] };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => json(response, 500, { error: "server_error" }));
  });
  const port = await listenNear(server, wanted);
  const issuer = name ?? `http://${wanted.host}:${port}`;
  const metadata = {
    issuer,
    jwks_uri: `${issuer}/jwks`,
    token_endpoint: `${issuer}/token`,
    grant_types_supported: ["client_credentials"],
    token_endpoint_auth_methods_supported: ["none"],
    response_types_supported: [],
  };

  function token(subject: string, resource: string): Promise<string> {
    const iat = Math.floor(now() / 1000);
    return new SignJWT({ client_id: CLIENT, jti: randomUUID() })
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid })
      .setIssuer(issuer)
      .setSubject(subject)
      .setAudience(resource)
      .setIssuedAt(iat)
      .setExpirationTime(iat + TOKEN_SECONDS)
      .sign(privateKey);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", issuer);
    if (request.method === "POST" && pathname === "/token") {
      await grant(new URLSearchParams(await text(request)), response);
    } else if (request.method === "GET" && pathname === "/jwks") {
      json(response, 200, jwks);
    } else if (request.method === "GET" && DISCOVERY.has(pathname)) {
      json(response, 200, metadata);
    } else {
      json(response, 404, { error: "not_found" });
    }
  }

  /** RFC 6749 section 4.4 with the resource of RFC 8707; the client's name stands in for the person. */
  async function grant(form: URLSearchParams, response: ServerResponse): Promise<void> {
    const subject = form.get("client_id") ?? "";
    const resource = form.get("resource") ?? "";
    if (form.get("grant_type") !== "client_credentials") {
      return json(response, 400, { error: "unsupported_grant_type" });
    }
    if (subject === "") return json(response, 400, { error: "invalid_client" });
    if (!URL.canParse(resource)) return json(response, 400, { error: "invalid_target" });
    const grant = { access_token: await token(subject, resource), token_type: "Bearer" };
    json(response, 200, { ...grant, expires_in: TOKEN_SECONDS });
  }

  return {
    issuer,
    token,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** RFC 8414 and OpenID Connect Discovery, for an issuer without a path. */
const DISCOVERY = new Set(["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]);

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}
