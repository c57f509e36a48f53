/** An SDK client that negotiates does not take a gateway in trouble for an old server: no handshake, a readable error. */
import t, { type Test } from "tap";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { createSdkClient, describe } from "../support/sdk-client.ts";
import { startUpstream, type TestUpstream } from "../support/upstream.ts";
import { type Holding, holding, TRANSFER } from "./rounds.ts";

interface Scene {
  readonly t: Test;
  readonly upstream: TestUpstream;
  readonly gateway: TestGateway;
  readonly held: Holding;
}

const limits = {
  server: {
    listen: "127.0.0.1:0",
    publicUrl: "http://gateway.test",
    allowedHosts: ["127.0.0.1"],
    limits: { inFlight: 1 },
  },
};

const TROUBLES: Record<
  string,
  {
    readonly sections?: (t: Test, url: string) => object | Promise<object>;
    readonly make?: (scene: Scene) => unknown;
    readonly status: number;
  }
> = {
  "the upstream is away": { make: ({ upstream }) => upstream.close(), status: 502 },
  "the upstream does not answer": {
    sections: (_t, url) => ({
      routes: [{ path: "/mcp", legacy: "pass", upstream: { url, timeouts: { headers: "50ms" } } }],
    }),
    status: 504,
  },
  "the upstream refuses the gateway's credential": {
    make: ({ upstream }) => {
      upstream.script = (_arrived, response) => void response.writeHead(401).end();
    },
    status: 502,
  },
  "the upstream breaks": {
    make: ({ upstream }) => {
      upstream.script = (_arrived, response) => void response.writeHead(500).end("broken");
    },
    status: 502,
  },
  "the gateway is full": {
    sections: () => limits,
    make: async ({ gateway, held }) => {
      gateway.call(TRANSFER).catch(() => undefined);
      await held.next();
    },
    status: 503,
  },
  "the gateway is shutting down": {
    make: async ({ t, gateway, held }) => {
      gateway.call(TRANSFER).catch(() => undefined);
      const { response } = await held.next();
      const closing = gateway.close(60_000);
      t.teardown(async () => {
        response.destroy();
        await closing;
      });
    },
    status: 503,
  },
  "no key of the issuer can be had": {
    sections: async (t) => {
      const issuer = await startIssuer();
      t.teardown(() => issuer.close());
      issuer.behaviour.jwks = "error";
      const token = await issuer.token({ aud: "http://gateway.test/mcp" });
      const settings = { issuer: issuer.issuer, jwks: { url: issuer.jwksUrl } };
      return { token, authentication: { issuers: [settings] } };
    },
    status: 503,
  },
};

for (const [name, { sections, make, status }] of Object.entries(TROUBLES)) {
  t.test(name, async (t) => {
    const held = holding();
    const upstream = await startUpstream(held.script);
    t.teardown(() => upstream.close());
    const route = { path: "/mcp", legacy: "pass", upstream: { url: upstream.url } };
    const { token, ...given } = ((await sections?.(t, upstream.url)) ?? {}) as { token?: string };
    const gateway = await startGateway(upstream.url, { routes: [route], ...given });
    t.teardown(() => gateway.close(0));
    await make?.({ t, upstream, gateway, held });
    const { client, transport, answers } = createSdkClient(`${gateway.url}/mcp`, {
      mode: "auto",
      ...(token === undefined ? {} : { authProvider: { token: async () => token } }),
    });
    const error = describe(await client.connect(transport).catch((thrown: unknown) => thrown));
    t.match(error, { name: /Error/ });
    t.same(
      answers.map((answer) => answer.status),
      [status],
      "one request, and no handshake after it",
    );
    t.notMatch(JSON.stringify(error), /127\.0\.0\.1|ECONN/);
  });
}
