/**
 * A small real issuer for tests, on loopback and port 0: discovery documents, a key set with rotation, signed tokens,
 * and every way a key server can misbehave. Signs only; there is no authorization endpoint.
 */

import type { webcrypto } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";

/** A signing key and its public half as it stands in the key set. */
export interface SigningKey {
  readonly kid: string | undefined;
  readonly alg: string;
  readonly privateKey: webcrypto.CryptoKey;
  readonly publicJwk: JWK;
}

/** How an endpoint answers. `hang` never answers; `drip` sends headers and then one byte at a time, without end. */
export type Behaviour =
  | "ok"
  | "error"
  | "broken"
  | "huge"
  | "redirect"
  | "gzip"
  | "bomb"
  | "hidden-bomb"
  | "html"
  | "deep"
  | "too-many"
  | "hang"
  | "drip"
  | "missing";

export interface TokenOptions {
  readonly key?: SigningKey;
  /** `alg` of the header; default the key's. */
  readonly alg?: string;
  /** Further or replacing header members; `undefined` removes one. */
  readonly header?: Readonly<Record<string, unknown>>;
}

export interface TestIssuer {
  /** The issuer's name, `http://127.0.0.1:PORT` + path. */
  readonly issuer: string;
  readonly jwksUrl: string;
  /** The key that signs by default; the last one of a rotation. */
  readonly key: SigningKey;
  /** The keys that are published now; change it to publish others. */
  published: JWK[];
  /** Requests for the key set so far, and for any other document. */
  jwksFetches: number;
  discoveryFetches: number;
  /** Requests for the places that redirects name. */
  followed: number;
  /** `Content-Type` of documents. */
  mediaType: string;
  behaviour: { jwks: Behaviour; oauth: Behaviour; oidc: Behaviour };
  /** Members that replace those of the discovery documents. */
  document: Record<string, unknown>;
  /** A token with `iss`, `sub` u-1001, `aud` AUDIENCE, `iat` and `exp` in 5 minutes, unless `claims` say otherwise (undefined removes). */
  token(claims?: Record<string, unknown>, options?: TokenOptions): Promise<string>;
  /** Makes and publishes a new signing key; the old ones stay published unless `drop`. */
  rotate(options?: { drop?: boolean }): Promise<SigningKey>;
  close(): Promise<void>;
}

let packed: Buffer | undefined;
const bomb = (): Buffer => (packed ??= gzipSync(Buffer.alloc(20 * 1024 * 1024, " ")));

/** The audience of tokens that name none. */
export const AUDIENCE = "https://gateway.example/mcp";

let made = 0;

/** A new key pair. `kid: null` makes a key without a key id. */
export async function signingKey(alg = "ES256", kid?: string | null): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  made += 1;
  const name = kid === null ? undefined : (kid ?? `k${made}`);
  const jwk = await exportJWK(publicKey);
  return {
    kid: name,
    alg,
    privateKey,
    publicJwk: { ...jwk, alg, use: "sig", ...(name === undefined ? {} : { kid: name }) },
  };
}

/** Signs claims as they are. */
export async function sign(claims: Record<string, unknown>, key: SigningKey, options: TokenOptions = {}) {
  const header = { alg: options.alg ?? key.alg, typ: "at+jwt", kid: key.kid, ...options.header };
  const kept = Object.fromEntries(Object.entries(header).filter(([, value]) => value !== undefined));
  const claimed = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
  const crit = Array.isArray(kept["crit"])
    ? Object.fromEntries(kept["crit"].map((name) => [name, true]))
    : {};
  return await new SignJWT(claimed as JWTPayload)
    .setProtectedHeader({ ...kept, alg: header.alg })
    .sign(key.privateKey, { crit });
}

/** Starts an issuer. `path` (for example `/tenant`) becomes part of its name. `now` in Unix milliseconds. */
export async function startIssuer(
  options: { path?: string; alg?: string; now?: () => number } = {},
): Promise<TestIssuer> {
  const { path = "", alg = "ES256", now = Date.now } = options;
  let key = await signingKey(alg);
  const server = createServer((request, response) => serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = `${origin}${path}`;
  const oauthPath = `/.well-known/oauth-authorization-server${path}`;
  const oidcPaths = [`/.well-known/openid-configuration${path}`, `${path}/.well-known/openid-configuration`];

  const it: TestIssuer = {
    issuer,
    jwksUrl: `${origin}${path}/jwks`,
    get key() {
      return key;
    },
    published: [key.publicJwk],
    jwksFetches: 0,
    discoveryFetches: 0,
    followed: 0,
    mediaType: "application/json",
    behaviour: { jwks: "ok", oauth: "ok", oidc: "ok" },
    document: {},
    async token(claims = {}, tokenOptions = {}) {
      const iat = Math.floor(now() / 1000);
      const all = { iss: issuer, sub: "u-1001", aud: AUDIENCE, iat, exp: iat + 300, ...claims };
      return await sign(all, tokenOptions.key ?? key, tokenOptions);
    },
    async rotate({ drop = false } = {}) {
      key = await signingKey(alg);
      it.published = [...(drop ? [] : it.published), key.publicJwk];
      return key;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? "";
    const answer = (on: ServerResponse, behaviour: Behaviour, document: object, moved: string): void =>
      answerAs(it.mediaType, on, behaviour, document, moved);
    const document = { issuer, jwks_uri: it.jwksUrl, ...it.document };
    if (url === `${path}/jwks`) {
      it.jwksFetches += 1;
      answer(response, it.behaviour.jwks, { keys: it.published }, "/moved-jwks");
    } else if (url === "/moved-jwks") {
      it.followed += 1;
      answer(response, "ok", { keys: it.published }, "");
    } else if (url === oauthPath || oidcPaths.includes(url)) {
      it.discoveryFetches += 1;
      answer(
        response,
        url === oauthPath ? it.behaviour.oauth : it.behaviour.oidc,
        document,
        "/moved-document",
      );
    } else if (url === "/moved-document") {
      it.followed += 1;
      answer(response, "ok", document, "");
    } else {
      answer(response, "missing", {}, "");
    }
  }

  return it;
}

function answerAs(
  mediaType: string,
  response: ServerResponse,
  behaviour: Behaviour,
  document: object,
  moved: string,
): void {
  const json = JSON.stringify(document);
  if (behaviour === "hang") return;
  if (behaviour === "drip") {
    response.writeHead(200, { "content-type": mediaType });
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
    return;
  }
  const bytes = behaviour === "bomb" || behaviour === "hidden-bomb" ? bomb() : json;
  const [status, body, headers] = {
    ok: [200, json, {}] as const,
    error: [500, json, {}] as const,
    missing: [404, "{}", {}] as const,
    broken: [200, json.slice(0, -1), {}] as const,
    redirect: [302, json, { location: moved }] as const,
    gzip: [200, json, { "content-encoding": "gzip" }] as const,
    // Twenty megabytes in twenty kilobytes.
    bomb: [200, bytes, { "content-encoding": "gzip" }] as const,
    "hidden-bomb": [200, bytes, {}] as const,
    html: [200, "<!doctype html><title>Sign in to this network</title>", {}] as const,
    deep: [200, `{"keys":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, {}] as const,
    "too-many": [429, json, { "retry-after": "3600" }] as const,
    huge: [200, `${json.slice(0, -1)},"pad":"${"x".repeat(300 * 1024)}"}`, {}] as const,
  }[behaviour];
  response.writeHead(status, { "content-type": mediaType, ...headers }).end(body);
}
