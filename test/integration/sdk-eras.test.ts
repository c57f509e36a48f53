/** The SDK client in each of its modes, on routes that pass legacy traffic and on routes that refuse it. */
import t from "tap";
import { startGateway } from "../support/gateway.ts";
import {
  connectSdkClient,
  createSdkClient,
  describe,
  outcome,
  type SdkClientOptions,
} from "../support/sdk-client.ts";
import { startSdkServer } from "../support/sdk-server.ts";

const MODERN = "2026-07-28";
const server = await startSdkServer();
const modernOnly = await startSdkServer({ legacy: "reject" });
t.teardown(async () => {
  await server.close();
  await modernOnly.close();
});

const route = (legacy: "refuse" | "pass", url: string) => ({
  routes: [{ path: "/mcp", upstream: { url }, legacy }],
});

/** Connects, lists, calls, reads; says what came of each. */
async function tour(url: string, options: SdkClientOptions) {
  const { client } = await connectSdkClient(url, options);
  const came = {
    version: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    tools: await outcome(client.listTools()),
    resources: await outcome(client.listResources()),
    call: await outcome(
      client.callTool({ name: "plain", arguments: { amount: 2 } }, { onprogress: () => undefined }),
    ),
    fails: await outcome(client.callTool({ name: "fails", arguments: {} })),
    unknown: await outcome(client.callTool({ name: "nope", arguments: {} })),
    ping: await outcome(client.ping()),
  };
  await client.close();
  return came;
}

const MODES: [string, SdkClientOptions, string][] = [
  ["a plain new Client()", { mode: "legacy" }, "2025-11-25"],
  ["mode auto", { mode: "auto" }, MODERN],
  ["a pin", { mode: { pin: MODERN } }, MODERN],
];

for (const [name, options, version] of MODES) {
  t.test(`${name}, where legacy passes`, async (t) => {
    const gateway = await startGateway(server.url, route("pass", server.url));
    t.teardown(() => gateway.close(0));
    const direct = await tour(server.url, options);
    t.equal(direct.version, version);
    t.same(await tour(`${gateway.url}/mcp`, options), direct);
  });
}

for (const [name, options] of MODES.slice(1)) {
  t.test(`${name}, where legacy is refused`, async (t) => {
    const gateway = await startGateway(server.url);
    t.teardown(() => gateway.close(0));
    const through = await tour(`${gateway.url}/mcp`, options);
    t.equal(through.version, MODERN);
    t.same(through, await tour(server.url, options));
  });
}

t.test("a plain new Client() is told what to set where legacy is refused", async (t) => {
  const gateway = await startGateway(server.url);
  t.teardown(() => gateway.close(0));
  const before = server.requests.length;
  const made = createSdkClient(`${gateway.url}/mcp`, { mode: "legacy" });
  const error = describe(await made.client.connect(made.transport).catch((thrown: unknown) => thrown));
  t.match(error, { message: /legacy: pass/ }, "the operator's setting");
  t.match(error, { message: /versionNegotiation/ }, "the client's setting");
  t.equal(server.requests.length, before, "nothing went up");
});

t.test("mode auto and a pin against a server of the modern revision only", async (t) => {
  for (const legacy of ["refuse", "pass"] as const) {
    const gateway = await startGateway(modernOnly.url, route(legacy, modernOnly.url));
    for (const mode of ["auto", { pin: MODERN }] as const) {
      const { client } = await connectSdkClient(`${gateway.url}/mcp`, { mode });
      t.equal(client.getNegotiatedProtocolVersion(), MODERN);
      await client.close();
    }
    await gateway.close(0);
  }
});

t.test("a plain new Client() against such a server hears what the server says", async (t) => {
  const gateway = await startGateway(modernOnly.url, route("pass", modernOnly.url));
  t.teardown(() => gateway.close(0));
  const [direct, through] = await Promise.all(
    [modernOnly.url, `${gateway.url}/mcp`].map(async (url) => {
      const made = createSdkClient(url, { mode: "legacy" });
      return describe(await made.client.connect(made.transport).catch((thrown: unknown) => thrown));
    }),
  );
  t.match(through, { name: /Error/ });
  t.same(through, direct);
});

t.test("a pin of a revision that is not served fails with the ones that are", async (t) => {
  const gateway = await startGateway(server.url);
  t.teardown(() => gateway.close(0));
  const made = createSdkClient(`${gateway.url}/mcp`, { mode: { pin: "2027-01-01" } });
  const error = describe(await made.client.connect(made.transport).catch((thrown: unknown) => thrown));
  t.match(error, { code: -32022, data: { supported: [MODERN], requested: "2027-01-01" } });
});

t.test(
  "a discover that policy denies is no access, and no reason to take the server for an old one",
  async (t) => {
    const deny = { id: "no-discover", effect: "deny", methods: ["server/discover"] };
    const gateway = await startGateway(server.url, {
      ...route("pass", server.url),
      authorization: { default: "allow", policies: [deny] },
    });
    t.teardown(() => gateway.close(0));
    const made = createSdkClient(`${gateway.url}/mcp`, { mode: "auto" });
    const error = describe(await made.client.connect(made.transport).catch((thrown: unknown) => thrown));
    t.match(error, { name: "SdkHttpError", code: "CLIENT_HTTP_FORBIDDEN" });
  },
);
