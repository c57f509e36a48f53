/**
 * A real OpenID provider (oidc-provider) on loopback and port 0, and a person who signs in there and agrees, by HTTP: the
 * library's own pages for development, without a browser. Tokens are JWTs (RFC 9068) for the resource that was asked for.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { exportJWK, generateKeyPair, type JWK } from "jose";
// @ts-expect-error the library comes without types
import Library from "oidc-provider";

interface Context {
  readonly path: string;
  readonly oidc?: { readonly params?: Readonly<Record<string, string>> };
}
const Provider = Library as new (
  issuer: string,
  configuration: object,
) => {
  use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
};

export const CALLBACK = "http://127.0.0.1:4711/callback";
/** A client that is known by the document at its name; nothing listens there, the provider is handed the document. */
export const CLIENT_DOCUMENT = "https://client.example/mcp-client.json";

/** What a client says of itself. */
export const CLIENT_METADATA = {
  client_name: "Desktop",
  redirect_uris: [CALLBACK],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
  application_type: "native",
} satisfies OAuthClientMetadata & { application_type: string };

export interface TestProvider {
  readonly issuer: string;
  /** What came to the token endpoint, oldest first. */
  readonly grants: URLSearchParams[];
  /** Requests by path. */
  readonly requests: string[];
  /** Seconds that the next access tokens are good for. */
  lifetime: number;
  close(): Promise<void>;
}

/** @param scopes what the resources know, blank between two */
export async function startProvider(
  resources: readonly string[],
  scopes: string,
  given: { readonly documents?: boolean } = {},
): Promise<TestProvider> {
  let handle: ((request: IncomingMessage, response: ServerResponse) => Promise<void>) | undefined;
  const grants: URLSearchParams[] = [];
  const requests: string[] = [];
  const http = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.replace(/\?.*$/, "")}`);
    void handle?.(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const it = { issuer, grants, requests, lifetime: 300 };
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT_METADATA, client_id: "desktop" }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: "sig", alg: "RS256", kid: "p1" } as JWK] },
    cookies: { keys: ["one", "two"] },
    scopes: ["openid", "offline_access", ...scopes.split(" ")],
    pkce: { required: () => true },
    findAccount: (_ctx: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: () => true,
    ttl: {
      Interaction: 600,
      Session: 600,
      Grant: 3_600,
      RefreshToken: 3_600,
      AccessToken: () => it.lifetime,
      IdToken: 300,
    },
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      ...(given.documents === true ? { clientIdMetadataDocument: { enabled: true, ack: "draft-02" } } : {}),
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx: unknown, resource: string) => {
          if (!resources.includes(resource)) throw new Error("no such resource");
          return {
            scope: scopes,
            audience: resource,
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "RS256" } },
          };
        },
      },
    },
    fetch: async (url: string | URL, init: RequestInit) =>
      String(url) === CLIENT_DOCUMENT
        ? Response.json({ ...CLIENT_METADATA, client_id: CLIENT_DOCUMENT })
        : fetch(url, init),
  });
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path === "/token") grants.push(new URLSearchParams({ ...ctx.oidc?.params }));
  });
  handle = provider.callback();
  return Object.assign(it, {
    close: () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  });
}

/** A client of the SDK whose person signs in as `login` and agrees to all that is asked. */
export interface TestClient extends OAuthClientProvider {
  /** Where the person was sent, oldest first. */
  readonly visits: URL[];
  /** What came back to the client at the last visit. */
  callback: URLSearchParams;
  stored: StoredOAuthTokens | undefined;
}

/** @param registered the client's id, where it has one beforehand */
export function createTestClient(login: string, registered?: string): TestClient {
  let information: OAuthClientInformationMixed | undefined =
    registered === undefined ? undefined : { client_id: registered };
  let verifier = "";
  let discovered: OAuthDiscoveryState | undefined;
  const cookies = new Map<string, string>();
  const it: TestClient = {
    visits: [],
    callback: new URLSearchParams(),
    stored: undefined,
    redirectUrl: CALLBACK,
    clientMetadata: CLIENT_METADATA,
    clientMetadataUrl: CLIENT_DOCUMENT,
    clientInformation: () => information,
    saveClientInformation: (saved) => {
      information = saved;
    },
    tokens: () => it.stored,
    saveTokens: (tokens) => {
      it.stored = tokens;
    },
    saveCodeVerifier: (saved) => {
      verifier = saved;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (saved) => {
      discovered = saved;
    },
    discoveryState: () => discovered,
    redirectToAuthorization: async (url) => {
      it.visits.push(url);
      it.callback = await agree(url, login, cookies);
    },
  };
  return it;
}

/** Follows the provider's pages to the client's callback; returns its parameters. */
async function agree(start: URL, login: string, cookies: Map<string, string>): Promise<URLSearchParams> {
  let url = start;
  let body: URLSearchParams | undefined;
  for (let step = 0; step < 20; step++) {
    const response = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      redirect: "manual",
      headers: { cookie: [...cookies].map((pair) => pair.join("=")).join("; ") },
      ...(body === undefined ? {} : { body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    body = undefined;
    const location = response.headers.get("location");
    const text = await response.text();
    if (location !== null) {
      url = new URL(location, url);
      if (url.href.startsWith(CALLBACK)) return url.searchParams;
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1];
    if (prompt === undefined)
      throw new Error(`the provider answered ${response.status}: ${text.slice(0, 500)}`);
    body = new URLSearchParams({ prompt, login, password: "x" });
  }
  throw new Error("the provider leads nowhere");
}
