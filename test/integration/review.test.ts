/** The reviewer is careful: it sends what the plan allows and no more, says so in exit codes, and keeps secrets out of all it writes. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { reviewRecord } from "../../src/review/record.ts";
import { type BreakableServer, startBreakableServer } from "../support/breakable-server.ts";
import { type Outcome, reviewed, startReview } from "../support/review-command.ts";
import { until } from "../support/until.ts";

interface Scene {
  readonly server: BreakableServer;
  readonly folder: string;
  readonly plan: string;
}

const CALL = `
  - name: transfer
    tool: transfer
    arguments: { amount: 10, to: Zoë Quux }
    otherArguments: { amount: 11, to: Zoë Quux }
    otherTarget: { target: refund, arguments: { amount: 10, to: Zoë Quux } }
    answers: { confirm: { content: { confirm: true, note: my own note } } }
`;

async function scene(t: Test, calls = `${CALL}    complete: true\n`): Promise<Scene> {
  const server = await startBreakableServer();
  t.teardown(() => server.close());
  const text = `version: 1
endpoint: ${server.url}?key=hunter2
principals: { first: { token: { file: first } }, second: { token: { file: second } } }
effectProbe: { tool: balance }
limits: { perSecond: 500, timeout: 20s }
calls:${calls}`;
  const folder = t.testdir({ "plan.yaml": text, first: server.tokens.first, second: server.tokens.second });
  return { server, folder, plan: join(folder, "plan.yaml") };
}

const recordIn = (file: string) => reviewRecord.parse(JSON.parse(readFileSync(file, "utf8")));

t.test("a whole review: every report holds it, and none of them a secret", async (t) => {
  const { server, folder, plan } = await scene(t);
  const files = ["json", "junit", "sarif", "html"].map((format) => join(folder, `report.${format}`));
  const options = ["json", "junit", "sarif", "html"].flatMap((format, index) => [
    `--${format}`,
    files[index] ?? "",
  ]);
  const { code, out, err } = await reviewed(t, "--plan", plan, ...options);
  t.ok(code === 0 || code === 3, `${code} ${err}`);
  const record = recordIn(files[0] ?? "");
  t.equal(record.counts.fail, 0, JSON.stringify(record.results.filter(({ verdict }) => verdict === "fail")));
  t.equal(record.exchanges.length, server.requests.length, "everything that was sent is in the record");
  t.strictSame(
    record.exchanges.map(({ number }) => number),
    record.exchanges.map((_, index) => index + 1),
  );
  const texts = [out, err, ...files.map((file) => readFileSync(file, "utf8"))];
  for (const secret of [...Object.values(server.tokens), "hunter2", "Quux", "my own note", "Transferred"])
    t.ok(
      texts.every((text) => !text.includes(secret)),
      secret,
    );
});

t.test("only what was allowed is called", async (t) => {
  const { server, plan } = await scene(t);
  await reviewed(t, "--plan", plan);
  const targets = new Set(
    server.effects.map(({ target, arguments: args }) => `${target} ${JSON.stringify(args)}`),
  );
  const allowed = ["transfer 10", "transfer 11", "refund 10"].map((text) => {
    const [target, amount] = text.split(" ");
    return `${target} {"amount":${amount},"to":"Zoë Quux"}`;
  });
  t.ok(targets.size > 0);
  t.strictSame(
    [...targets].filter((one) => !allowed.includes(one)),
    [],
  );
});

t.test("where the plan does not allow to accept, nothing is carried out", async (t) => {
  const { server, folder, plan } = await scene(t, CALL);
  const json = join(folder, "r.json");
  await reviewed(t, "--plan", plan, "--json", json);
  t.strictSame(server.effects, []);
  const record = recordIn(json);
  t.ok(record.results.some(({ verdict }) => verdict === "not_applicable"));
  t.match(record.options.forbidden, [/transfer: the plan does not allow to accept/]);
});

t.test("nor by a server that breaks every rule", async (t) => {
  const { server, plan } = await scene(t, CALL);
  server.break("replay", "missing-state", "other-tool", "other-arguments", "other-method");
  await reviewed(t, "--plan", plan);
  t.strictSame(server.effects, []);
});

t.test("a dry run sends nothing, and says what it would send", async (t) => {
  const { server, plan } = await scene(t);
  const { code, out } = await reviewed(t, "--plan", plan, "--dry-run");
  t.equal(code, 0);
  t.strictSame(server.requests, []);
  t.match(out, /^\d+ first map: first call\n {2}tools\/call \{"name":"transfer"/m);
  t.match(out, /^\d+ second /m);
  for (const secret of [...Object.values(server.tokens), "Quux", "hunter2"]) t.notMatch(out, secret);
  const targets = new Set([...out.matchAll(/^ {2}tools\/call \{"name":"([^"]*)"/gm)].map(([, name]) => name));
  t.strictSame(
    [...targets].filter(
      (name) =>
        !["transfer", "refund", "balance"].includes(name ?? "") && !name?.startsWith("sealgate-review"),
    ),
    [],
  );
});

t.test("without a plan it lists, and calls what --allow names", async (t) => {
  const { server, folder } = await scene(t);
  const run = (...args: string[]): Promise<Outcome> =>
    reviewed(t, "--url", server.url, "--token-file", join(folder, "first"), "--rate", "500", ...args);
  const nothing = await run();
  t.equal(nothing.code, 3);
  t.match(nothing.err, /the server lists 4 tools .*\n.*--allow/);
  t.notOk(server.requests.some((method) => method === "tools/call"));

  const readOnly = await run("--allow", "read-only");
  t.strictSame(server.effects, []);
  t.equal(readOnly.code, 3, "what only reads asks for nothing here");

  const one = await run("--allow", "transfer,none-such", "--effect-probe", "balance");
  t.ok(server.effects.length > 0);
  t.ok(server.effects.every(({ target }) => target === "transfer"));
  t.equal(one.code, 3);
  t.match(one.err, /\(none-such\): the server lists no tool/);
  t.equal(
    (await run("--allow", "transfer", "--effect-probe", "refund")).code,
    69,
    "a probe that does not only read",
  );
});

t.test("a call that does not ask is made once, and nothing is established", async (t) => {
  const { server, folder, plan } = await scene(t, "\n  - { name: balance, tool: balance, complete: true }\n");
  const json = join(folder, "r.json");
  t.equal((await reviewed(t, "--plan", plan, "--json", json)).code, 3);
  t.equal(server.requests.filter((method) => method === "tools/call").length, 1);
  t.ok(recordIn(json).results.every(({ verdict }) => verdict === "inconclusive"));
});

t.test("a failure has its own exit code", async (t) => {
  const { server, plan } = await scene(t);
  server.break("effect-before-accept");
  const { code, out } = await reviewed(t, "--plan", plan);
  t.equal(code, 2);
  t.match(out, /✕ effects\/before-accept/);
});

t.test("what cannot be used is told before anything is tried", async (t) => {
  const { server, folder, plan } = await scene(t);
  const exits = async (code: number, message: RegExp, ...args: string[]): Promise<void> => {
    const outcome = await reviewed(t, ...args);
    t.equal(outcome.code, code, args.join(" "));
    t.match(outcome.err, message);
    t.notMatch(outcome.err, /hunter2|token-of/);
  };
  await exits(64, /not on this machine.*--remote/, "--url", "http://10.255.255.1/mcp");
  await exits(64, /needs --plan FILE or --url URL/);
  await exits(64, /--allow does not go with --plan/, "--plan", plan, "--allow", "read-only");
  await exits(64, /--rate is not.*\n.*--wait is not/, "--url", server.url, "--rate", "0", "--wait", "5");
  await exits(64, /use --plan FILE or --url URL\nUsage: sealgate review .{1,60}\nMore:/, server.url);
  const absent = ["--url", server.url, "--token-file", join(folder, "none")];
  await exits(64, /--token-file: the file does not exist\nUsage/, ...absent);
  await exits(69, /name.invalid cannot be resolved .*--remote/, "--url", "http://name.invalid/mcp");
  const wrongToken = ["--url", server.url, "--token-file", join(folder, "plan.yaml.token")];
  writeFileSync(join(folder, "plan.yaml.token"), "no-token-of-this-server");
  await exits(69, /HTTP 401: the credential that was given was not accepted/, ...wrongToken);
  writeFileSync(
    join(folder, "wrong.yaml"),
    `version: 1\nendpoint: ${server.url}\nprincipals: { first: { token: { file: none } } }\nspeed: 3\ncalls:\n  - { name: a, tool: x, colour: red }\n  - { name: a, tool: y }\n`,
  );
  const plans = await reviewed(t, "--plan", join(folder, "wrong.yaml"));
  t.equal(plans.code, 78);
  for (const said of [
    /speed is no setting/,
    /colour is no setting/,
    /calls\[1\]\.name: is the same/,
    /folder of the plan\)/,
  ])
    t.match(plans.err, said);
  t.match(plans.err, /4 problems in the plan$/m);
  await exits(64, /one file/, "--plan", plan, "--json", join(folder, "x"), "--html", join(folder, "x"));
  await exits(66, /no such file/, "--plan", join(folder, "none.yaml"));
  await exits(69, /HTTP 401/, "--url", server.url);
  await exits(73, /exists already/, "--plan", plan, "--json", join(folder, "first"));
  t.notOk(server.requests.includes("tools/call"));
});

t.test("a stop leaves a record of what was done", async (t) => {
  const { server, folder, plan } = await scene(t);
  const json = join(folder, "r.json");
  server.holdReply();
  const { child, ended } = startReview(t, ["--plan", plan, "--json", json]);
  await until(() => server.requests.includes("tools/call") && server.requests.length >= 6);
  child.kill("SIGINT");
  const { code, err } = await ended;
  t.equal(code, 3);
  t.match(err, /stopped/);
  const record = recordIn(json);
  t.ok(record.exchanges.length >= 5);
  t.ok(record.results.length > 0);
  t.ok(record.results.every(({ verdict, words }) => verdict === "inconclusive" && /stopped/.test(words)));
});

t.test("a redirect leads nowhere, also with a token", async (t) => {
  const seen: string[] = [];
  const target = createServer((request, response) => {
    seen.push(request.url ?? "");
    response.end();
  });
  const lure = createServer((_request, response) => {
    const { port } = target.address() as AddressInfo;
    response.writeHead(308, { location: `http://127.0.0.1:${port}/mcp` }).end();
  });
  for (const server of [target, lure]) {
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    t.teardown(() => server.close());
  }
  const { port } = lure.address() as AddressInfo;
  const { code, err } = await reviewed(t, "--url", `http://127.0.0.1:${port}/mcp`, "--allow", "read-only");
  t.equal(code, 69);
  t.match(err, /HTTP 308/);
  t.strictSame(seen, []);
});
