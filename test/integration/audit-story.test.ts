/**
 * The story of one chain, from the records of a real gateway: an approval, a question of the server, a stranger, other arguments, a
 * replay, and what an operator did. Ids and digests are named in the order in which they come; all else is as it is printed.
 */
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Ajv2020 } from "ajv/dist/2020.js";
import t, { type Test } from "tap";
import { digestOf } from "../../src/audit/questions.ts";
import { auditShow } from "../../src/commands/audit-show.ts";
import { asksOnce, QUESTION, setScene, TRANSFER, YES } from "../security/scene.ts";
import { PUBLIC_URL, type TestGateway } from "../support/gateway.ts";
import { page } from "../support/markdown.ts";

const AT = Date.parse("2026-12-01T09:00:00.000Z");
const TOKEN = "an-operators-token-of-some-length";

/** Plays it all. @returns the gateway, with the chain */
async function play(t: Test): Promise<{ readonly gateway: TestGateway; readonly chain: string }> {
  process.env["SG_TEST_STORY_TOKEN"] = TOKEN;
  const scene = await setScene(t, {
    users: true,
    script: asksOnce,
    sections: (url) => ({
      admin: { listen: "127.0.0.1:0", token: { env: "SG_TEST_STORY_TOKEN" } },
      authorization: {
        default: "deny",
        policies: [{ id: "payments", effect: "approve", tools: ["transfer"], sensitivity: "financial" }],
      },
      audit: { client: true },
      routes: [{ path: "/mcp", upstream: { url, credential: { bearer: { env: "SG_TEST_STORY_TOKEN" } } } }],
    }),
  });
  const { gateway, issuer } = scene;
  gateway.clock.now = AT;
  const life = { aud: `${PUBLIC_URL}/mcp`, iat: AT / 1_000, exp: AT / 1_000 + 3_600 };
  const owner = await issuer.token({ sub: "u-1001", ...life });
  const stranger = await issuer.token({ sub: "u-2002", ...life });
  const pass = (ms: number): void => {
    gateway.clock.now += ms;
  };
  const first = await gateway.call(TRANSFER, { token: owner });
  const state: string = first.json.result.requestState;
  const approved = { approval: { action: "accept", content: {} } };
  const retry = (requestState: string, inputResponses: object, token = owner, params = TRANSFER.params) =>
    gateway.call({ method: "tools/call", params: { ...params, requestState, inputResponses } }, { token });
  pass(4_200);
  t.equal((await retry(state, approved, stranger)).json.error.data.reason, "invalid_request_state");
  pass(800);
  const other = { ...TRANSFER.params, arguments: { to: "acct-6", amount: 5_000 } };
  t.equal((await retry(state, approved, owner, other)).json.error.data.reason, "invalid_request_state");
  pass(12_000);
  const asked = await retry(state, approved);
  const next: string = asked.json.result.requestState;
  pass(61_000);
  t.match((await retry(next, YES)).json.result, { content: [{ text: "done" }] });
  pass(30);
  t.equal((await retry(next, YES)).json.error.data.reason, "already_redeemed");
  pass(600_000);
  const chain = gateway.audit[0]?.chain ?? "";
  const revoked = await fetch(`${gateway.adminUrl}/v1/revocations`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ chain, by: "ops", reason: "seen twice" }),
  });
  t.equal(revoked.status, 201);
  return { gateway, chain };
}

async function* bytes(text: string, size = 4_093): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(text);
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
}

/** What the command prints of a log. */
async function shown(log: string, chain: string, json = false): Promise<{ text: string; code: number }> {
  let text = "";
  const code = await auditShow(
    { chain, file: undefined, config: undefined, json },
    { input: bytes(log), write: (part) => (text += part) },
  );
  return { text, code };
}

/** Ids and digests by names, in the order in which they come. */
function named(text: string, names: Readonly<Record<string, string>>): string {
  const known = new Map(Object.entries(names));
  const counts = new Map<string, number>();
  const name = (kind: string) => (value: string) => {
    const number = (counts.get(kind) ?? 0) + 1;
    if (!known.has(value)) {
      counts.set(kind, number);
      known.set(value, `${kind}-${number}`);
    }
    return known.get(value) ?? "";
  };
  return text
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, "https://login.example.com")
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, name("request"))
    .replace(/(?<![\w-])[\w-]{43}(?![\w-])/g, name("digest"))
    .replace(/(?<![\w-])(?=[\w-]*[\dA-Z_])[\w-]{22}(?![\w-])/g, name("state"))
    .replace(/code [0-9A-F]{16}/g, "code 1A2B3C4D5E6F7081");
}

t.test("docs/audit.md has the story as it is told", async (t) => {
  const { gateway, chain } = await play(t);
  const log = [...gateway.audit, ...gateway.deeds].map((record) => JSON.stringify(record)).join("\n");
  const { text, code } = await shown(log, chain);
  t.equal(code, 0);
  const story = named(text, { [chain]: "chain-1" });
  const documented = /```text\n(Chain chain-1\n[\s\S]*?)```/.exec(page("docs/audit.md").text)?.[1];
  t.equal(story, documented);
  if (process.env["SG_PRINT_STORY"] !== undefined) process.stderr.write(story);
  t.notMatch(text, /acct|Sure|\bU1==/, "nothing of arguments, questions and states");
});

t.test("records: who retries what, what was shown, and what became of it", async (t) => {
  const { gateway, chain } = await play(t);
  const [asked, foreign, swapped, approved, done, replayed] = gateway.audit;
  t.match(asked, {
    chain,
    round: 1,
    outcome: "input_required",
    sensitivity: ["financial"],
    declared: ["form"],
  });
  t.match(asked, { client: { name: "test", version: "0" }, roundLimit: 32, ageLimitMs: 3_600_000 });
  const own = { chain, round: 1, jti: chain, rpcId: asked?.rpcId };
  t.match(foreign, { outcome: "refused", state: "rejected", cause: "principal", brought: own });
  t.notOk("chain" in (foreign ?? {}), "a stranger's attempt is none of its rounds");
  t.match(swapped, { state: "rejected", cause: "params", brought: own });
  t.not(swapped?.params, asked?.params);
  t.match(approved, { replay: "first_use", brought: own, round: 2, params: asked?.params });
  t.same(approved?.questions, [
    {
      kind: "form",
      key: digestOf("confirm"),
      message: digestOf(QUESTION.params.message),
      schema: digestOf(JSON.stringify(QUESTION.params.requestedSchema)),
    },
  ]);
  t.equal(asked?.questions?.[0]?.message, asked?.approval?.message, "one way to digest both");
  t.match(done, { replay: "first_use", outcome: "complete", brought: { round: 2, jti: approved?.jti } });
  t.equal(done?.brought?.rpcId, approved?.rpcId, "the request that it answers");
  t.match(replayed, {
    replay: "already_redeemed",
    state: "already_redeemed",
    brought: { jti: approved?.jti },
  });
  t.equal(new Set([asked, approved, done, replayed].map((record) => record?.rpcId)).size, 4);
});

t.test("the published schema holds for all of it, and for nothing else", async (t) => {
  const { gateway } = await play(t);
  const text = readFileSync(new URL("../../config/audit.schema.json", import.meta.url), "utf8");
  const validate = new Ajv2020({ validateFormats: false }).compile(JSON.parse(text));
  const records = JSON.parse(JSON.stringify([...gateway.audit, ...gateway.deeds]));
  t.ok(records.length >= 7);
  for (const record of records) {
    t.ok(validate(record), JSON.stringify(validate.errors));
    t.notOk(validate({ ...record, more: 1 }), "closed");
    t.notOk(validate({ ...record, outcome: "well" }));
    t.notOk(validate({ ...record, time: "yesterday" }));
    for (const member of ["type", "time", "requestId", "outcome"]) {
      const { [member]: _, ...rest } = record;
      t.notOk(validate(rest), `needs ${member}`);
    }
    for (const [member, value] of Object.entries(record))
      if (value !== null && typeof value === "object" && !Array.isArray(value))
        t.notOk(validate({ ...record, [member]: { ...value, more: 1 } }), `${member} is closed`);
  }
});

t.test("among foreign lines, half lines and lines of others", async (t) => {
  const { gateway, chain } = await play(t);
  const lines = [...gateway.audit, ...gateway.deeds].map((record) => JSON.stringify(record));
  const [first = "", second = ""] = lines;
  const noise = [
    `{"level":"info","msg":"${chain}"}`,
    `GET /?${first} 200`,
    `balancer-1 | ${second}`,
    `{"type":"audit","chain":"${chain}"`,
    `{"type":"audit","chain":["${chain}"]}`,
    '{"type":"audit","chain":null}',
    `{"type":"audit","note":"${"x".repeat(1_100_000)}${chain}"}`,
    "\u0000\u0001\ufffd",
    "",
  ];
  const log = [...noise, ...lines.flatMap((line, at) => [line, noise[at] ?? ""]), ...noise];
  const clean = await shown(lines.join("\n"), chain);
  t.same(await shown(log.join("\n"), chain), clean);
  t.same(await shown(log.join("\r\n"), chain), clean, "line ends of others");
  t.same(await shown([...log, ...lines].join("\n"), chain), clean, "none twice");
  const torn = [first.slice(0, 90) + second, ...lines.filter((line) => line !== second)];
  t.same(await shown(torn.join("\n"), chain), clean, "one that was cut, and the next on its line");
  const json = await shown(log.join("\n"), chain, true);
  t.same(
    json.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
    lines.map((line) => JSON.parse(line)),
  );
  t.equal((await shown(noise.join("\n"), "A".repeat(22))).code, 65, "none found");
});

t.test("texts that a terminal would obey, and members of versions to come", async (t) => {
  const { gateway, chain } = await play(t);
  const [first] = gateway.audit;
  const evil = {
    ...first,
    target: { kind: "tool", name: "a\u001b]0;x\u0007\u202e\u2028b" },
    later: { x: 1 },
  };
  const { text } = await shown(JSON.stringify(evil), chain);
  t.match(text, "tool a{U+001B}]0;x{U+0007}{U+202E}{U+2028}b");
  t.notMatch(text.replaceAll("\n", ""), /[\p{C}\p{Zl}]/u);
  const json = await shown(JSON.stringify(evil), chain, true);
  t.notMatch(json.text.trim(), /[\p{C}\p{Zl}]/u);
  t.same(JSON.parse(json.text), evil);
  const later = await shown(JSON.stringify({ ...first, outcome: "something new" }), chain);
  t.match(later.text, "1 more of other versions");
});

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

t.test("a huge file is read through, not in", async (t) => {
  const { gateway, chain } = await play(t);
  const line = `${JSON.stringify({ ...gateway.audit[0], chain: "B".repeat(22) })}\n`;
  const own = `${JSON.stringify(gateway.audit[0])}\n`;
  const block = Buffer.from(line.repeat(500));
  const blocks: WeakRef<Buffer>[] = [];
  const copy = (): Buffer => {
    const made = Buffer.from(block);
    blocks.push(new WeakRef(made));
    return made;
  };
  const held = (): number => blocks.filter((made) => made.deref() !== undefined).length;
  const fresh = promisify(setImmediate);
  let most = 0;
  const input = (async function* () {
    for (let read = 0; read < 40; read++) yield copy();
    yield Buffer.from(own);
    // One line without an end, longer than any record.
    for (let read = 0; read < 40; read++) {
      yield copy().fill("x");
      // What a turn of the loop has looked at lives until the turn is over.
      await fresh();
      collect();
      most = Math.max(most, held());
    }
  })();
  let text = "";
  const options = { chain, file: undefined, config: undefined, json: true };
  t.equal(await auditShow(options, { input, write: (part) => (text += part) }), 0);
  t.equal(text, own);
  t.ok(most <= 4, `${most} of ${blocks.length} blocks of ${block.length} bytes were held at once`);
});
