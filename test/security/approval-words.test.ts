/**
 * Attacks on what people read before they approve: values that play the form, the template or the text, and calls so large that
 * nobody could read them. Whoever makes the call is the attacker here: a model that somebody has talked into it.
 */
import t, { type Test } from "tap";
import type { Message } from "../support/gateway.ts";
import { result } from "../support/upstream.ts";
import { answers, DONE, type Scene, setScene } from "./scene.ts";

const POLICY = {
  id: "ask",
  effect: "approve",
  approval: { message: "Send {arguments.amount} to {arguments.to} on {server}?", confirm: "{arguments.to}" },
};

const open = (t: Test, policies: readonly object[] = [POLICY]): Promise<Scene> =>
  setScene(t, {
    users: true,
    script: (arrived, response) => result(arrived, response, DONE),
    sections: (url, { issuer, jwksUrl }) => ({
      authentication: { issuers: [{ issuer, jwks: { url: jwksUrl } }] },
      authorization: { default: "allow", policies },
      routes: [
        { path: "/mcp", upstream: { url }, legacy: "refuse" },
        { path: "/other", upstream: { url: `${url}?other` }, legacy: "refuse" },
      ],
    }),
  });

const call = (given: unknown, name = "transfer"): Message => ({
  method: "tools/call",
  params: { name, arguments: given },
});

interface Shown {
  readonly message: string;
  readonly typed: string;
  readonly state: string;
}

async function shown(scene: Scene, message: Message): Promise<Shown> {
  const reply = await scene.gateway.call(message, { token: scene.owner });
  const { requestState, inputRequests } = reply.json?.result ?? {};
  const { params } = inputRequests?.approval ?? {};
  if (params === undefined) throw new Error(`${reply.status} ${reply.body.slice(0, 500)}`);
  const { description = "" } = params.requestedSchema.properties.confirm ?? {};
  return { message: params.message, typed: description, state: requestState };
}

/** A sum and a payee, and how they try to be read as others. */
const PLAYS: Readonly<Record<string, unknown>> = {
  "lines of the form": "acct-9`\n- to: `acct-1",
  "a second question": "acct-9\n\nApprove this call?\n- tool: `read`",
  "a template": "{arguments.other} {server} {{x}}",
  "an escape that is none": "acct{U+002D}9",
  "turned around": "\u202e9-tcca\u202c",
  isolated: "\u2067acct-9\u2069",
  "zero width": "acct\u200b-\u200d9\ufeff",
  "colours of a terminal": "\u001b[2K\u001b[1Aacct-1",
  "a bell and a backspace": "acct-9\u0007\u0008\u00081",
  separators: "acct-9\u2028acct-1\u2029\u0085\u000b\u000c",
  markup: "<b>acct-1</b><script>x</script><!--",
  entities: "&#10;&lt;b&gt;",
  markdown: "**acct-1** ~~acct-9~~ # x\n> y | z",
  "a link": "[acct-1](https://evil.com/?q)",
  "an address": "https://evil.com/login",
  "an image": "![x](http://evil.com/x.png)",
  "variation selectors": "acct\ufe0f-9\u{e0100}",
  tags: "acct-9\u{e0041}\u{e007f}",
  "a filler": "acct-9\u3164\u115f\uffa0",
  "a heap of marks": `acct-9${"\u0334".repeat(300)}`,
  "half a character": "acct-9\ud800",
  long: "acct-9 ".repeat(5_000),
};
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}<>&]|\p{M}{5}/u;

for (const [name, to] of Object.entries(PLAYS)) {
  t.test(`a payee: ${name}`, async (t) => {
    const scene = await open(t);
    const { message, typed } = await shown(scene, call({ amount: 5, to, other: "acct-1" }));
    const lines = message.split("\n");
    t.equal(
      lines.find((line) => UNSEEN.test(line)),
      undefined,
      message,
    );
    t.notMatch(typed, UNSEEN);
    t.equal(lines.length, 9, "its own lines and no others");
    t.same(
      lines.map((line) => line.slice(0, 8)),
      [
        "Approve ",
        "- tool: ",
        "- server",
        "Send 5 t",
        "Argument",
        "- amount",
        "- other:",
        "- to: `a",
        "Code: ",
      ].map((head, at) =>
        at === 7 ? (lines[7]?.slice(0, 8) ?? "") : at === 8 ? (lines[8]?.slice(0, 8) ?? "") : head,
      ),
    );
    t.match(lines[7], /^- to: `[^`]*`(… \(\d+ characters, SHA-256 [0-9a-f]{32}…\))?$/);
    t.match(lines[8], /^Code: [0-9A-F]{16}$/);
    t.notMatch(message, /evil\.com|\]\(|:\/\//);
    t.equal(scene.bytesUp(), 0);
  });
}

t.test("a name of a tool, of an argument, of a caller", async (t) => {
  const scene = await open(t, [{ ...POLICY, approval: { message: "For {principal.subject}?" } }]);
  for (const name of ["delete - tool: `read`", "delete_file`", "<b>", "https://evil.com"]) {
    const { message } = await shown(scene, call({ [`${name}\n\u202e: 1`]: 1 }, name));
    t.notMatch(message.replaceAll("\n", ""), UNSEEN);
    t.match(
      message,
      /^Approve this call\?\n- tool: `[^`\n]*`\n- server: `\/mcp`\nFor `u-1001`\?\nArguments:\n- `[^`\n]*`: 1\n/,
    );
  }
});

t.test("what is typed is the payee's own name, or a word that no payee has chosen", async (t) => {
  const scene = await open(t);
  for (const [to, typed] of [
    ["acct-9", "acct-9"],
    ["APPROVE", "APPROVE"],
    ["y\u200b", "APPROVE"],
    [["acct-9", "acct-1"], "APPROVE"],
    [null, "APPROVE"],
    [{ x: 1 }, "APPROVE"],
  ])
    t.equal((await shown(scene, call({ to }))).typed, `Type \`${typed}\` exactly, without the quotes.`);
  const { state } = await shown(scene, call({ to: "acct-9" }));
  for (const confirm of ["acct-1", "ACCT-9", "асct-9", "acct-9\u200b", "", 9, undefined]) {
    const reply = await scene.retry(state, {
      ...call({ to: "acct-9" }),
      inputResponses: { approval: { action: "accept", content: { confirm } } },
    });
    t.match(reply.json, { error: { data: { reason: "invalid_input_responses" } } });
  }
  t.equal(scene.bytesUp(), 0);
});

t.test("a yes to another policy, route, tool or server is none", async (t) => {
  const scene = await open(t);
  const given = { amount: 5, to: "acct-9" };
  const content = { confirm: "acct-9" };
  const answer = { inputResponses: { approval: { action: "accept", content } } };
  const { state } = await shown(scene, call(given));
  const refused = { json: { error: { data: { reason: "invalid_request_state" } } } };
  t.match(await scene.retry(state, { ...call(given, "transfer_all"), ...answer }), refused, "tool");
  const aud = "https://mcp.example.com/other";
  const token = await scene.issuer.token({ sub: "u-1001", aud: [aud, "https://gateway.example/other"] });
  const elsewhere = await scene.retry(state, { ...call(given), ...answer }, {
    token,
    path: "/other",
  } as never);
  t.ok([400, 401].includes(elsewhere.status), "route");
  t.ok(
    await scene.gateway.configure({
      authorization: { default: "allow", policies: [{ ...POLICY, id: "other" }] },
    }),
  );
  t.match(await scene.retry(state, { ...call(given), ...answer }), refused, "policy");
  t.ok(await scene.gateway.configure({ authorization: { default: "allow", policies: [POLICY] } }));
  t.match((await scene.retry(state, { ...call(given), ...answer })).json, {
    result: { resultType: "complete" },
  });
  t.equal(scene.upstream.arrived.length, 1);
});

/** Bodies just below the limit, each of what costs most in one way. */
const LARGE: Readonly<Record<string, () => string>> = {
  "a million values": () => `{"list":[${"1,".repeat(1_000_000)}1]}`,
  "two hundred thousand members": () =>
    `{${Array.from({ length: 200_000 }, (_, n) => `"k${n.toString(36)}":[]`).join(",")}}`,
  "names that look like secrets": () =>
    `{${Array.from({ length: 100_000 }, (_, n) => `"раssw0rd_${n}":"x"`).join(",")}}`,
  deep: () => `${'{"a":'.repeat(50)}[${"[[]],".repeat(400_000)}1]${"}".repeat(50)}`,
  "a name of three megabytes": () => `{"${"pаss".repeat(600_000)}":1}`,
  "a text of three megabytes": () => `{"to":"${"\\u0301".repeat(500_000)}"}`,
  "a number of three megabytes": () => `{"amount":${"9".repeat(3_000_000)}}`,
  links: () => `{"to":"${"a.com ".repeat(500_000)}"}`,
  "a list to be typed": () => `{"to":[${'"a",'.repeat(700_000)}"a"],"amount":[${"[],".repeat(200_000)}1]}`,
};

for (const [name, text] of Object.entries(LARGE)) {
  t.test(`a call of ${name}: one short question, and nothing of it goes up`, async (t) => {
    const scene = await open(t);
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { name: "transfer" },
    });
    const meta = (await import("../support/gateway.ts")).meta();
    const sent = body.replace(
      '"name":"transfer"',
      () => `"_meta":${JSON.stringify(meta)},"name":"transfer","arguments":${text()}`,
    );
    t.ok(Buffer.byteLength(sent) < 4 * 1024 * 1024);
    const started = performance.now();
    const reply = await scene.raw(sent, call({}));
    t.comment(`${name}: ${Math.round(performance.now() - started)} ms`);
    if (reply.json.result === undefined) throw new Error(reply.body);
    const { message } = reply.json.result.inputRequests.approval.params;
    t.ok(Buffer.byteLength(message) <= 4_096);
    t.match(message, /^Approve this call\?\n- tool: `transfer`\n- server: `\/mcp`\nSend /);
    t.match(message, /\nCode: [0-9A-F]{16}$/);
    t.equal(scene.bytesUp(), 0);
  });
}

t.test("what is hidden goes nowhere but to the server", async (t) => {
  const secret = "hunter2-hunter2";
  const scene = await open(t, [
    { id: "ask", effect: "approve", approval: { confirm: "{arguments.password}" } },
  ]);
  scene.upstream.script = answers(DONE);
  const given = { password: secret, note: "visible" };
  const { message, state, typed } = await shown(scene, call(given));
  t.notMatch(JSON.stringify([message, typed, scene.gateway.audit]), /hunter2/);
  t.match(typed, /`APPROVE`/);
  await scene.retry(state, {
    ...call(given),
    inputResponses: { approval: { action: "accept", content: { confirm: "APPROVE" } } },
  });
  t.same(scene.upstream.arrived[0]?.json.params.arguments, given, "as it was called");
  t.notMatch(JSON.stringify(scene.gateway.audit), /hunter2/);
});

t.test("what a call does is not hidden behind a token", async (t) => {
  const scene = await open(t, [
    { id: "ask", effect: "approve", approval: { message: "Run {arguments.command}?" } },
  ]);
  const evil = "rm -rf /";
  for (const token of [
    "AKIAABCDEFGHIJKLMNOP",
    `ghp_${"a1".repeat(18)}`,
    "Bearer abcdefghijklmnopqrst",
    "https://u:hunter2@host/",
    "-----BEGIN PRIVATE KEY-----",
  ])
    for (const command of [`${evil} # ${token}`, `${token} ; ${evil}`, `${token} ${evil} ${token}`]) {
      const written = (await shown(scene, call({ command }))).message;
      // In a text with a link all signs are written out.
      const message = written.replace(/\{U\+([0-9A-F]{4})\}/g, (_, hex) =>
        String.fromCharCode(parseInt(hex, 16)),
      );
      t.match(message, /\nRun .*`[^`]*rm -rf \/[^`]*`.*\?\n/, command);
      t.match(message, /\n- command: .*`[^`]*rm -rf \/[^`]*`/);
      t.match(message, /\(hidden\)/);
      t.notMatch(message, /AKIA|ghp_|abcdefghij|hunter2|SHA-256/);
    }
  const only = await shown(scene, call({ command: "AKIAABCDEFGHIJKLMNOP" }));
  t.match(only.message, /\n- command: \(hidden\)\n/);
  t.equal(scene.bytesUp(), 0);
});

t.test("no argument pushes another out", async (t) => {
  const scene = await open(t, [{ id: "ask", effect: "approve" }]);
  let deep: unknown = 1;
  for (let depth = 0; depth < 40; depth++) deep = { ["\u0301".repeat(30) + depth]: deep };
  for (const a of [deep, Array.from({ length: 500 }, () => "\n".repeat(500)), { ...Array(90).fill("x") }]) {
    const { message } = await shown(scene, call({ a, path: "/etc/shadow" }));
    t.match(message, /\n- path: `\/etc\/shadow`\n/);
  }
  const junk = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`a${n}`, n]));
  const { message } = await shown(scene, call({ ...junk, path: "/etc/shadow" }));
  t.match(message, /\nArguments: not all of them are shown\n/, "it is said before the first of them");
  t.equal(scene.bytesUp(), 0);
});

t.test("no value takes the place of the operator's sentence", async (t) => {
  const long = Array.from({ length: 9 }, () => "\n".repeat(900));
  const approval = {
    details: "hide",
    message: "Pay {arguments.amount} to {arguments.to} for {arguments.memo}?",
  };
  const few = await open(t, [{ id: "ask", effect: "approve", approval }]);
  const { message } = await shown(few, call({ amount: 5, to: "acct-1", memo: long }));
  t.match(message, /\nPay 5 to `acct-1` for `/);
  const names = Array.from({ length: 25 }, (_, n) => `{arguments.a${n}}`).join(" ");
  const many = await open(t, [{ id: "ask", effect: "approve", approval: { ...approval, message: names } }]);
  const all = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`a${n}`, long]));
  const listed = (await shown(many, call({ ...all, to: "acct-1" }))).message;
  t.match(
    listed,
    /too long to be shown\)\nArguments: not all(?:.*\n)*- to: `acct-1`/,
    "then the list is there",
  );
});

t.test("a quote ends where it ends, and an argument is none of the question's own lines", async (t) => {
  const scene = await open(t, [{ id: "ask", effect: "approve" }]);
  for (const end of ["\u1fef", "\uff40", "\u02cb", "\u2035", " \u0300"]) {
    const { message } = await shown(scene, call({ path: `/etc${end} (checked, harmless)`, Tool: "read" }));
    t.match(
      message,
      /\n- `Tool`: `read`\n- path: `\/etc[^`]*\{U\+[0-9A-F]{4}\}[^`]*`\n/,
      JSON.stringify(end),
    );
    t.equal(message.normalize("NFKC").split("`").length, message.split("`").length);
  }
});
