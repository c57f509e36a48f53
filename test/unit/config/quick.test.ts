import t from "tap";
import { quickConfig } from "../../../src/config/quick.ts";

t.test("the quickstart is loopback, anonymous, in memory, open, and passes legacy traffic", async (t) => {
  const config = quickConfig("http://127.0.0.1:3001/mcp");
  t.match(config, {
    server: { listen: { host: "127.0.0.1", port: 8080 }, publicUrl: "http://127.0.0.1:8080" },
    authentication: { mode: "anonymous", issuers: [] },
    redemption: { store: "memory" },
    authorization: { default: "allow" },
    routes: [{ path: "/mcp", legacy: "pass", upstream: { url: "http://127.0.0.1:3001/mcp" } }],
  });
  for (const absent of ["admin", "redis", "keys"]) t.notOk(Object.hasOwn(config, absent), absent);
  t.equal(quickConfig("http://a/mcp", { port: 0 }).server.listen.port, 0);
  t.equal(quickConfig("http://a/mcp", { host: "::1", port: 1 }).server.publicUrl, "http://[::1]:1");
});

t.test("refuses other listeners, bad upstreams and itself", async (t) => {
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "a.example"]) {
    t.throws(() => quickConfig("http://a/mcp", { host }), /loopback only/, host);
  }
  for (const url of ["", "a", "ftp://a", "http://u:hunter2@a/", "http://a/#f"]) {
    t.throws(() => quickConfig(url), /the upstream must be/, url);
  }
  t.throws(() => quickConfig("http://localhost:8080/mcp"), /gateway's own/);
  t.equal(quickConfig("http://localhost:8080/mcp", { port: 8081 }).routes.length, 1);
});
