import t from "tap";
import { isLoopback } from "../../../src/config/addresses.ts";
import { Refusal } from "../../../src/errors.ts";
import {
  checkHost,
  checkOrigin,
  createReach,
  preflightHeaders,
  type Reach,
} from "../../../src/http/origin.ts";

const server = (change: object = {}) => ({
  listen: { host: "0.0.0.0" },
  publicUrl: "https://mcp.example.com",
  allowedOrigins: [],
  ...change,
});
const isServed = (
  reach: ReturnType<typeof createReach>,
  host: string | undefined,
  target?: string,
): boolean => {
  try {
    checkHost(new Map(host === undefined ? [] : [["host", host]]), reach, target);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === "misdirected_host") return false;
    throw error;
  }
};

t.test("by default the public URL's host, with any port unless it names one", async (t) => {
  const reach = createReach(server());
  for (const host of [
    "mcp.example.com",
    "MCP.Example.COM",
    "mcp.example.com:443",
    "mcp.example.com:8080",
    " mcp.example.com ",
  ])
    t.ok(isServed(reach, host), host);
  for (const host of [
    undefined,
    "",
    "localhost",
    "127.0.0.1",
    "example.com",
    "x.mcp.example.com",
    "mcp.example.com.",
    "mcp.example.com.evil.example",
    "mcp.example.com:x",
    "mcp.example.com, evil.example",
    "user@mcp.example.com",
    ":443",
  ])
    t.notOk(isServed(reach, host), String(host));
  const exact = createReach(server({ publicUrl: "https://mcp.example.com:8443" }));
  t.ok(isServed(exact, "mcp.example.com:8443"));
  t.notOk(isServed(exact, "mcp.example.com"));
});

t.test("a loopback listener answers for the loopback names, unless hosts are listed", async (t) => {
  for (const host of ["127.0.0.1", "::1", "localhost", "127.8.9.10"]) {
    const reach = createReach(server({ listen: { host }, publicUrl: "http://127.0.0.1:8080" }));
    for (const name of ["localhost:8080", "127.0.0.1", "[::1]:9", "LOCALHOST"])
      t.ok(isServed(reach, name), name);
    t.notOk(isServed(reach, "evil.example"), "what a rebound name looks like");
  }
  const listed = createReach(
    server({ listen: { host: "127.0.0.1" }, allowedHosts: ["A.example", "b.example:81"] }),
  );
  for (const host of ["a.example", "a.example:1", "B.example:81"]) t.ok(isServed(listed, host), host);
  for (const host of ["localhost", "mcp.example.com", "b.example", "b.example:8"])
    t.notOk(isServed(listed, host), host);
});

t.test("the absolute form of a target counts as well", async (t) => {
  const reach = createReach(server());
  for (const target of ["/mcp", "", "http://mcp.example.com/mcp", "HTTPS://MCP.example.com:443?x"])
    t.ok(isServed(reach, "mcp.example.com", target), target);
  for (const target of [
    "http://evil.example/mcp",
    "http://mcp.example.com@evil.example/",
    "http:///mcp",
    "x://evil",
  ])
    t.notOk(isServed(reach, "mcp.example.com", target), target);
  t.notOk(isServed(reach, "evil.example", "http://mcp.example.com/mcp"), "and the header still does");
});

t.test("loopback addresses", async (t) => {
  for (const host of ["localhost", "127.0.0.1", "127.255.0.9", "::1", "[::1]"]) t.ok(isLoopback(host), host);
  for (const host of [
    "0.0.0.0",
    "128.0.0.1",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "::",
    "10.0.0.1",
    "127.1",
  ])
    t.notOk(isLoopback(host), host);
});

t.test("an Origin is one of the list, letter by letter, or absent", async (t) => {
  const reach = createReach(server({ allowedOrigins: ["https://app.example", "http://localhost:5173"] }));
  const judge = (origin: string) => () => checkOrigin(new Map([["origin", origin]]), reach);
  t.same(checkOrigin(new Map(), reach), {});
  for (const origin of reach.origins) {
    const headers = judge(origin)();
    t.equal(headers["access-control-allow-origin"], origin);
    t.equal(headers["vary"], "Origin");
    t.match(headers["access-control-expose-headers"], /WWW-Authenticate.*X-Request-Id/);
    t.notOk("access-control-allow-credentials" in headers);
  }
  for (const origin of [
    ...[
      "",
      "null",
      "*",
      "https://app.example/",
      "https://APP.example",
      "http://app.example",
      "https://app.example:443",
    ],
    ...[
      "https://x.app.example",
      "https://app.example.evil.example",
      "https://app.example, https://evil.example",
    ],
  ])
    t.throws(judge(origin), { code: "forbidden_origin" }, origin);
});

t.test(
  "the gateway's own origin is that of its public URL, and on loopback of the port addressed",
  async (t) => {
    const judge = (origin: string, host: string, reach: Reach) => () =>
      checkOrigin(new Map([...Object.entries({ origin, host })]), reach);
    const open = createReach(
      server({ publicUrl: "https://mcp.example.com", listen: { host: "0.0.0.0" }, allowedHosts: ["*"] }),
    );
    const local = createReach(server({ publicUrl: "http://127.0.0.1:8080", listen: { host: "127.0.0.1" } }));
    for (const [host, reach] of [
      ["https://mcp.example.com", open],
      ["http://127.0.0.1:8080", local],
      ["http://localhost:8080", local],
      ["http://[::1]:9999", local],
    ] as const)
      t.equal(judge(host, new URL(host).host, reach)()["access-control-allow-origin"], host);
    for (const [origin, host, reach] of [
      ["http://mcp.example.com", "mcp.example.com", open],
      ["https://mcp.example.com:8443", "mcp.example.com", open],
      // Another port is another server, whoever runs it.
      ["https://mcp.example.com:8443", "mcp.example.com:8443", open],
      ["https://alias.example.com", "alias.example.com", open],
      ["https://localhost:8080", "localhost:8080", open],
      ["https://MCP.example.com", "MCP.example.com", open],
      ["http://localhost:8081", "localhost:8080", local],
      ["https://localhost:8080", "localhost:8080", local],
      ["http://evil.example:8080", "evil.example:8080", local],
      ["http://localhost.evil.example", "localhost.evil.example", local],
    ] as const)
      t.throws(judge(origin, host, reach), { code: "forbidden_origin" }, `${origin} at ${host}`);
  },
);

t.test("a preflight allows what the gateway reads and no more", async (t) => {
  const asked = (value: string | undefined) => {
    const headers = preflightHeaders(
      new Map(value === undefined ? [] : [["access-control-request-headers", value]]),
    );
    t.equal(headers["access-control-allow-methods"], "POST, GET, DELETE");
    return (headers["access-control-allow-headers"] ?? "").split(", ");
  };
  const always = asked(undefined);
  for (const name of ["authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"])
    t.ok(always.includes(name), name);
  t.same(asked("x-secret, cookie, *"), always);
  t.same(asked("Mcp-Param-Region , mcp-param-b"), [...always, "mcp-param-region", "mcp-param-b"]);
  t.same(
    asked("mcp-param-, mcp-param-a\r\nset-cookie: x, mcp-param-a b, xmcp-param-a"),
    always,
    "nothing is echoed unread",
  );
});
