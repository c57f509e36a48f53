/**
 * Records of two gateways in one Redis stream, and the command that tells a chain from it, from a file and from standard input: the program
 * itself, from outside.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { asksOnce, TRANSFER, YES } from "../security/scene.ts";
import { openCommands } from "../support/commands.ts";
import { startEdited } from "../support/edited.ts";
import { ownRedis } from "../support/redis.ts";
import { startUpstream } from "../support/upstream.ts";

const NOBODY = "A".repeat(22);

t.test("a call that begins on one gateway and goes on on another", async (t) => {
  const redis = await ownRedis(t);
  const upstream = await startUpstream(asksOnce);
  t.teardown(() => upstream.close());
  const sections = {
    redis: { url: redis.url },
    keys: { primary: "1", ring: [{ id: "1", secret: { file: "key" } }] },
    audit: {
      sinks: [
        { type: "stdout" },
        { type: "file", path: "audit.ndjson" },
        { type: "redis", maxRecords: 1_000 },
      ],
      arguments: true,
    },
    routes: [{ path: "/mcp", upstream: { url: upstream.url, reachCheck: "off" } }],
  };
  const files = { key: "an operator's secret of more than 32 bytes" };
  const [one, two] = [await startEdited(t, sections, files), await startEdited(t, sections, files)];
  // A gateway promises no state before it has read the store's epoch.
  let asked = await one.send(TRANSFER);
  for (let tries = 0; tries < 500 && asked.status !== 200; tries++) asked = await one.send(TRANSFER);
  const { requestState } = asked.json.result;
  const params = { ...TRANSFER.params, requestState, inputResponses: YES };
  const done = await two.send({ ...TRANSFER, params });
  t.match(done.json.result, { content: [{ text: "done" }] });
  const id = String(asked.headers["x-request-id"]);
  const { chain } = (await one.line(({ requestId }) => requestId === id)) as { chain: string };
  await two.line(({ requestId }) => requestId === String(done.headers["x-request-id"]));

  const run = openCommands(t, { cwd: one.folder });
  const show = (...args: string[]) => run(["audit", "show", `--chain=${chain}`, ...args]);
  let shown = await show("--config", one.file);
  for (let tries = 0; tries < 100 && !shown.out.includes("2 records"); tries++)
    shown = await show("--config", one.file);
  t.equal(shown.code, 0, shown.err);
  t.match(shown.out, "2 records, 1 round, 0 refusals");
  t.match(shown.out, /the server asks by form[\s\S]*first use of this state: spent[\s\S]*ended: complete/);
  t.notMatch(shown.out, /acct-9/);
  const json = await show("--config", one.file, "--json");
  t.notMatch(json.out, /acct-9|"arguments"/, "arguments are not in Redis");
  const records = json.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  t.match(records, [{ outcome: "input_required" }, { outcome: "complete", replay: "first_use" }]);

  const own = await show("--file", "audit.ndjson");
  t.match(own.out, "1 record, 1 round, 0 refusals", "the file of one gateway has its half");
  t.same(await run(["audit", "show", `--chain=${chain}`], json.out), shown, "the same from standard input");
  t.same(await show("--file=-"), {
    code: 65,
    out: "",
    err: `sealgate: there is no record of chain ${chain}\n`,
  });

  t.equal((await run(["audit", "show", "--chain", NOBODY, "--config", one.file])).code, 65);
  t.match(await show("--file", "none.ndjson"), {
    code: 66,
    err: "sealgate: cannot read none.ndjson: ENOENT\n",
  });
  t.match(await show("--file", "."), { code: 66, err: /cannot read \.: EISDIR/ });
  t.match(await show("--file", "x", "--config", one.file), { code: 64, err: /do not go together/ });
  t.match(await run(["audit", "show", "--chain", "x"]), { code: 64, err: /no id of a chain/ });
  t.match(await run(["audit", "show"]), { code: 64, err: /needs --chain ID/ });
  writeFileSync(
    join(one.folder, "other.yaml"),
    "version: 1\nauthentication: { mode: anonymous }\nroutes: [{ path: /mcp, upstream: { url: 'http://127.0.0.1:9/mcp' } }]\n",
  );
  t.match(await show("--config", "other.yaml"), { code: 64, err: /names no audit sink of type redis/ });
  await redis.stop();
  t.match(await show("--config", one.file), {
    code: 69,
    err: /^sealgate: Redis 127\.0\.0\.1:\d+\/0: not connected\n$/,
  });
  t.match((await one.send(TRANSFER)).json, { jsonrpc: "2.0" }, "and requests go on");
  await one.line(({ msg }) => msg === "audit records wait for Redis");
});
