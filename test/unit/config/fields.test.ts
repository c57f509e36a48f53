import t, { type Test } from "tap";
import type * as z from "zod";
import * as fields from "../../../src/config/fields.ts";

const accepts = (schema: z.ZodType, text: unknown) => schema.safeParse(text).success;

function table(t: Test, schema: z.ZodType, good: readonly unknown[], bad: readonly unknown[]): void {
  for (const text of good) t.ok(accepts(schema, text), `accepts ${JSON.stringify(text)}`);
  for (const text of bad) t.notOk(accepts(schema, text), `refuses ${JSON.stringify(text)}`);
}

t.test("paths of routes", async (t) => {
  table(
    t,
    fields.routePath(),
    ["/", "/mcp", "/a/b", "/A-b._~9", "/.hidden", "/a.b/..c", "/well-known"],
    [
      "",
      "//",
      "mcp",
      "/mcp/",
      "//mcp",
      "/a//b",
      "/a:b",
      "/:a",
      "/*",
      "/a*",
      "/a?b",
      "/a#b",
      "/a b",
      "/a%2fb",
      "/a\\b",
      "/a/../b",
      "/./a",
      "/..",
      "/.well-known",
      "/.well-known/x",
      "/.WELL-KNOWN/x",
      "/é",
      "/a\n",
      `/${"a".repeat(300)}`,
      1,
      null,
    ],
  );
});

t.test("URLs of upstreams and issuers", async (t) => {
  table(
    t,
    fields.httpUrl({ query: true }),
    ["http://127.0.0.1:3001/mcp", "https://a.example/mcp?x=1", "http://[::1]/"],
    [
      "",
      "a",
      "ftp://a/",
      "file:///etc/passwd",
      "http:/a",
      "//a/mcp",
      "https://u:p@a/",
      "https://u@a/",
      "https://a/#f",
      "https://a/ b",
      "https://a/\n",
      "javascript:alert(1)",
    ],
  );
  table(
    t,
    fields.httpUrl({ query: false }),
    ["https://a.example/realm"],
    ["https://a.example/?x", "https://a.example?"],
  );
});

t.test("origins are bare and in the form browsers send", async (t) => {
  table(
    t,
    fields.origin(),
    ["https://a.example", "http://127.0.0.1:8080", "http://[::1]:8080"],
    [
      "https://a.example/",
      "https://a.example/x",
      "https://A.example",
      "https://a.example:443",
      "https://u@a.example",
      "null",
      "*",
      "a.example",
      "https://*.a.example",
    ],
  );
});

t.test("hosts that addresses may lead to", async (t) => {
  table(
    t,
    fields.addressHost(),
    [
      "a.example",
      "*.a.example",
      "*",
      "a.example:8443",
      "localhost:*",
      "bücher.example",
      "[::1]",
      "[::1]:3000",
      "10.0.0.?",
    ],
    [
      "",
      "https://a.example",
      "a.example/x",
      "a.example.",
      "u@a.example",
      "a b",
      "a:b",
      "a.example:",
      "a.example:123456",
    ],
  );
});

t.test("Redis URLs", async (t) => {
  table(
    t,
    fields.redisUrl(),
    ["redis://127.0.0.1", "redis://h:6379/0", "rediss://h:6380/15", "redis://h/"],
    [
      "",
      "h:6379",
      "http://h",
      "redis://:p@h",
      "redis://u:p@h/0",
      "redis://h/x",
      "redis://h/0?x=1",
      "redis://h#x",
      "redis://",
    ],
  );
});

t.test("references to secrets; a secret itself is refused", async (t) => {
  table(
    t,
    fields.secretRef(),
    [{ file: "a" }, { file: "/run/secrets/a" }, { env: "A_1" }],
    [
      "hunter2",
      {},
      { file: "a", env: "B" },
      { file: "" },
      { env: "1A" },
      { env: "a-b" },
      { env: "" },
      { value: "x" },
      { file: "a\n" },
      { file: 1 },
      [],
      null,
      { file: "a", mode: 1 },
    ],
  );
});

t.test("headers that carry credentials", async (t) => {
  table(
    t,
    fields.credentialHeader(),
    ["x-api-key", "X-Api-Key", "Authorization", "Cookie"],
    [
      "",
      "a b",
      "a:b",
      "x\r\ny",
      "Host",
      "content-length",
      "Content-Type",
      "transfer-encoding",
      "connection",
      "mcp-method",
      "Mcp-Session-Id",
      "accept",
      "proxy-authorization",
      "x-forwarded-for",
      "origin",
      "traceparent",
    ],
  );
  t.equal(fields.credentialHeader().parse("X-Api-Key"), "x-api-key");
});

t.test("numbers, flags, labels and scopes", async (t) => {
  table(t, fields.whole(1, 10), [1, 10], [0, 11, 1.5, "1", Number.NaN, Number.POSITIVE_INFINITY, true, null]);
  table(t, fields.flag(), [true, false], ["true", "on", 1, null]);
  table(t, fields.label(), ["a", "2026-11", "a.b_c"], ["", "a b", "é", "a".repeat(65), "(default)", 2026]);
  table(t, fields.scopeToken(), ["mcp:read", "a/b.c"], ["", "a b", 'a"b', "a\\b", "é"]);
  table(t, fields.duration(1_000, 60_000), ["1s", "1m"], ["999ms", "61s", "0s", 1, "1"]);
  table(t, fields.size(1, 1_024), ["1B", "1KiB"], ["0B", "2KiB", 1]);
});
