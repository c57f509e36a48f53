import t from "tap";
import { startFailure } from "../../../src/commands/start-failure.ts";
import { quickConfig } from "../../../src/config/quick.ts";
import type { Config } from "../../../src/config/schema.ts";

const quick = quickConfig("http://a/mcp");
const config: Config = {
  ...quick,
  admin: { listen: { host: "127.0.0.2", port: 8080 }, readiness: { store: "optional" }, console: false },
  audit: { ...quick.audit, sinks: [{ type: "stdout" }, { type: "file", path: "/a/b" }] },
};
const system = (code: string, more: object) =>
  Object.assign(new Error(`message of ${code}`), { code, ...more });
const listen = (code: string, address: string, port = 8080) =>
  system(code, { syscall: "listen", address, port });

t.test("what the system refused, and which setting asked for it", async (t) => {
  const cases: [error: unknown, sentence: string][] = [
    [listen("EADDRINUSE", "127.0.0.1"), "127.0.0.1:8080 (server.listen) is in use by another process"],
    [listen("EADDRINUSE", "127.0.0.2"), "127.0.0.2:8080 (admin.listen) is in use by another process"],
    [listen("EACCES", "127.0.0.1"), "127.0.0.1:8080 (server.listen) may not be listened on by this user"],
    [listen("EODD", "127.0.0.1"), "127.0.0.1:8080 (server.listen) cannot be listened on: EODD"],
    [
      system("ENOTFOUND", { syscall: "getaddrinfo", hostname: "127.0.0.2" }),
      "127.0.0.2:8080 (admin.listen) has a host name that leads to no address",
    ],
    [
      system("EACCES", { syscall: "open", path: "/a/b" }),
      "/a/b (audit.sinks[1].path) may not be written by this user",
    ],
    [system("EODD", { syscall: "open", path: "/a/b" }), "/a/b (audit.sinks[1].path) cannot be opened: EODD"],
    [system("EACCES", { syscall: "open", path: "/c" }), "message of EACCES"],
    [new Error("anything else"), "anything else"],
    ["odd", "unknown cause"],
  ];
  for (const [error, sentence] of cases) t.equal(startFailure(error, config, false), sentence);
  const ports = {
    ...config,
    admin: { ...config.admin, listen: { host: "127.0.0.1", port: 9090 } },
  } as Config;
  t.match(
    startFailure(listen("EADDRINUSE", "::1", 9090), ports, false),
    /^127\.0\.0\.1:9090 \(admin\.listen\)/,
  );
  t.match(
    startFailure(listen("EADDRINUSE", "::1", 8080), ports, false),
    /^127\.0\.0\.1:8080 \(server\.listen\)/,
  );
  t.match(
    startFailure(listen("EADDRINUSE", "127.0.0.1"), quick, true),
    /^127\.0\.0\.1:8080 \(--listen\) is in use/,
  );
});
