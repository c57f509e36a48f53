/** What could not be reviewed is told with what the server said, in each report and by the exit code; it is never left out of a pass. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { startServer } from "../../demo/server.ts";
import { type ReviewRecord, reviewRecord } from "../../src/review/record.ts";
import { startBreakableServer } from "../support/breakable-server.ts";
import { type Outcome, reviewed } from "../support/review-command.ts";

interface Reply {
  readonly status?: number;
  readonly result?: object;
  readonly error?: object;
}

const schema = { type: "object", properties: {} };
const TOOLS = [
  { name: "refused", inputSchema: schema, annotations: { readOnlyHint: true, title: "no hint" } },
  {
    name: "patterned",
    inputSchema: { properties: { iban: { type: "string", pattern: "^DE" } }, required: ["iban"] },
  },
];
const POLICY = { status: 403, error: { code: -32_021, message: "policy\u001b[31m says no to review" } };

/** A server of one line of JSON for each method. */
async function serve(t: Test, answer: (method: string) => Reply): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { id, method } = JSON.parse(body) as { id: unknown; method: string };
    const { status = 200, ...reply } = answer(method);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const listing =
  (called: Reply) =>
  (method: string): Reply => {
    if (method === "tools/list") return { result: { tools: TOOLS } };
    if (method === "prompts/list") return { result: { prompts: [{ name: "letter" }] } };
    if (method === "server/discover")
      return { result: { supportedVersions: ["2026-07-28"], capabilities: {} } };
    if (method === "tools/call") return called;
    return { error: { code: -32_601, message: "no such method" } };
  };

async function run(
  t: Test,
  ...args: string[]
): Promise<Outcome & { readonly record: ReviewRecord | undefined }> {
  const json = join(t.testdir({}), `${args.length}-${Math.abs(args.join().length)}.json`);
  const outcome = await reviewed(t, ...args, "--rate", "500", "--json", json);
  const isThere = outcome.code !== 69;
  return {
    ...outcome,
    record: isThere ? reviewRecord.parse(JSON.parse(readFileSync(json, "utf8"))) : undefined,
  };
}

t.test("a name that is not listed, and one that works beside it", async (t) => {
  const server = await startBreakableServer();
  t.teardown(() => server.close());
  const folder = t.testdir({ token: server.tokens.first });
  const options = ["--url", server.url, "--token-file", join(folder, "token"), "--rate", "500"];
  const json = join(folder, "record.json");
  const both = await reviewed(t, ...options, "--allow", "transfer,none-such", "--json", json);
  t.equal(both.code, 3);
  t.match(both.out, /\? INCOMPLETE/);
  t.match(both.out, /no tool, prompt or resource of this\s+name/);
  const record = reviewRecord.parse(JSON.parse(readFileSync(json, "utf8")));
  const missing = record.results.filter(({ call }) => call === "none-such");
  t.match(missing, [{ check: "review/reviewable", verdict: "inconclusive" }]);
  t.ok((missing[0]?.exchanges.length ?? 0) > 0);
  const alone = await reviewed(t, ...options, "--allow", "transfer");
  t.not(alone.code, 2);
  t.notMatch(alone.out, "review/reviewable");
});

t.test("a first call that is refused does not ask for nothing", async (t) => {
  const url = await serve(t, listing(POLICY));
  for (const allow of ["refused,patterned", "read-only"]) {
    const { code, out, err, record } = await run(t, "--url", url, "--allow", allow);
    t.equal(code, 3, allow);
    t.notMatch(err, /asks for nothing/);
    for (const text of [out, err]) {
      t.match(text.replaceAll(/\s+/g, " "), /error -32021 \(HTTP 403\): "policy\S* ?says no to review/);
      t.notMatch(text, "\u001b");
    }
    const [result] = record?.results.filter(({ call }) => call === "refused") ?? [];
    t.match(result, { check: "review/reviewable", verdict: "inconclusive" });
    const shown = record?.exchanges.find(({ number }) => number === result?.exchanges[0]);
    t.match(shown?.received, { kind: "error", code: -32_021, status: 403 });
    if (allow !== "read-only") t.match(out, /"iban" has "pattern"/);
  }
  const quiet = await serve(t, listing({ result: { content: [] } }));
  const { err } = await run(t, "--url", quiet, "--allow", "refused");
  t.match(err, /refused: asks for nothing/, "its neighbour that really asks for nothing");
});

t.test("a server that is away has not 0 tools", async (t) => {
  const url = await serve(t, () => ({
    status: 502,
    error: { code: -32_603, message: "upstream unreachable" },
  }));
  const { code, err } = await run(t, "--url", url);
  t.equal(code, 69);
  t.match(err, /none of 4 requests .*error -32603 \(HTTP 502\): "upstream unreachable"/);
  t.notMatch(err, /0 tools/);
  const forbidden = await serve(t, () => POLICY);
  t.equal((await run(t, "--url", forbidden, "--allow", "read-only")).code, 69);
});

t.test("without --allow the lists are printed, and in the record", async (t) => {
  const url = await serve(t, listing(POLICY));
  const { code, out, err, record } = await run(t, "--url", url);
  t.equal(code, 3);
  t.match(err, /lists 2 tools \(1 says it only reads\), 1 prompt, 0 resources/);
  t.match(out, /^ {2}tool refused \(readOnlyHint: true\)\n {2}tool patterned\n {2}prompt letter$/m);
  t.strictSame(record?.server.listed, {
    tools: [
      { name: "refused", annotations: { readOnlyHint: true } },
      { name: "patterned", annotations: {} },
    ],
    prompts: ["letter"],
    resources: [],
  });
});

t.test("a plan whose first call fails says in each check what came", async (t) => {
  const closed = createTcpServer();
  await new Promise<void>((done) => closed.listen(0, "127.0.0.1", done));
  const { port } = closed.address() as AddressInfo;
  await new Promise<void>((done) => closed.close(() => done()));
  const url = await serve(t, listing(POLICY));
  const plan = join(
    t.testdir({
      "plan.yaml": `version: 1\nendpoint: ${url}\ncalls:\n  - { name: one, tool: refused, arguments: { to: review, path: first } }\n`,
    }),
    "plan.yaml",
  );
  const json = join(plan, "..", "record.json");
  const { code } = await reviewed(t, "--plan", plan, "--rate", "500", "--json", json);
  t.equal(code, 3);
  const record = reviewRecord.parse(JSON.parse(readFileSync(json, "utf8")));
  for (const { words } of record.results) {
    t.match(words, /error -32021 \(HTTP 403\): "policy.* says no to \(argument\)"/);
    t.match(words, /^the first call did not end in a question/, "and our own words stay");
  }
  t.ok(record.exchanges.every(({ sent }) => sent.headers["user-agent"]?.startsWith("sealgate-review/")));
  t.ok(record.exchanges.some(({ label }) => label === "map: first call"));
  const refused = await reviewed(t, "--url", `http://127.0.0.1:${port}/mcp`);
  t.match(refused.err, /ECONNREFUSED/);
  t.equal(refused.code, 69);
});

t.test("the transfer of the demo, as docs/review.md has it, is called and fails", async (t) => {
  const server = await startServer({ host: "127.0.0.1", port: 0 }, "/mcp");
  t.teardown(() => server.close());
  const { code } = await run(t, "--url", server.url, "--allow", "transfer");
  t.equal(code, 2);
  t.ok(server.ledger.length > 0);
});
