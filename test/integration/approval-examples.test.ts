/**
 * The example configurations of config/: each loads without a warning, and does what its comments say in front of a server on the real
 * SDK that speaks the revision and asks nobody. What the server carried out is counted.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/load.ts";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { startPlainServer } from "../support/plain-server.ts";

const EXAMPLES = ["files", "shell", "payments"] as const;
const read = (name: string): string =>
  readFileSync(new URL(`../../config/approval-${name}.yaml`, import.meta.url), "utf8");

for (const name of EXAMPLES) {
  t.test(`approval-${name}.yaml is sound, without a warning`, async (t) => {
    const folder = t.testdir({ "sealgate.yaml": read(name) });
    mkdirSync(join(folder, "secrets"));
    writeFileSync(join(folder, "secrets/envelope-key"), "k".repeat(43), { mode: 0o600 });
    t.same((await loadConfig(join(folder, "sealgate.yaml"), {})).warnings, []);
  });
}

/** The example in front of a server, with one caller in each of some groups. */
async function open(t: Test, name: (typeof EXAMPLES)[number]) {
  const server = await startPlainServer();
  t.teardown(() => server.close());
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const { authorization, envelope = {} } = parse(read(name));
  const settings = { issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, claims: { groups: "groups" } };
  const sections = { authorization, envelope, authentication: { issuers: [settings] } };
  const gateway = await startGateway(server.url, sections);
  t.teardown(() => gateway.close(0));
  const aud = `${PUBLIC_URL}/mcp`;
  const tokens = {
    user: await issuer.token({ sub: "u-1", aud, groups: ["staff"] }),
    treasurer: await issuer.token({ sub: "u-2", aud, groups: ["treasury"] }),
  };
  const as = (who: keyof typeof tokens) => ({ token: tokens[who] });
  const call = async (tool: string, args: object, who: keyof typeof tokens = "user") => {
    const message = { method: "tools/call", params: { name: tool, arguments: args } };
    const reply = await gateway.call(message, as(who));
    const { requestState, inputRequests } = reply.json?.result ?? {};
    const [key = "", question] = Object.entries(inputRequests ?? {})[0] ?? [];
    return {
      reply,
      question: question as { params: { message: string; requestedSchema: object } } | undefined,
      accept: (content: object = {}) =>
        gateway.call(
          {
            method: "tools/call",
            params: {
              ...message.params,
              requestState,
              inputResponses: { [key]: { action: "accept", content } },
            },
          },
          as(who),
        ),
    };
  };
  await gateway.call({ method: "tools/list" }, as("user"));
  return { server, gateway, call };
}

t.test("files: reading runs, changing asks, removing needs the path, secrets are out of reach", async (t) => {
  const { server, call } = await open(t, "files");
  t.match((await call("read_file", { path: "/a" })).reply.json, { result: { content: [{}] } });
  t.match((await call("create_directory", { path: "/d" })).reply.json, { result: { content: [{}] } });
  t.equal(server.ran.length, 2);
  const write = await call("write_file", { path: "/a", content: "x" });
  t.match(write.question?.params.message, /Let `write_file` change files/);
  t.equal(server.ran.length, 2, "not yet");
  t.match((await write.accept()).json, { result: { content: [{ text: "write_file done" }] } });
  const remove = await call("delete_file", { path: "/a" });
  t.match((await remove.accept({ confirm: "/b" })).json, {
    error: { data: { reason: "invalid_input_responses" } },
  });
  t.match((await remove.accept({ confirm: "/a" })).json, {
    result: { content: [{ text: "delete_file done" }] },
  });
  const never = await call("write_file", { path: "/home/me/.ssh/authorized_keys", content: "x" });
  t.match(never.reply.json, { error: { data: { reason: "arguments_forbidden" } } });
  t.match((await call("run_command", { command: "ls" })).reply.json, {
    error: { data: { reason: "unknown_tool" } },
  });
  t.same(
    server.ran.map(({ name }) => name),
    ["read_file", "create_directory", "write_file", "delete_file"],
  );
});

t.test("shell: the command is shown each time, and its purpose is on record", async (t) => {
  const { server, gateway, call } = await open(t, "shell");
  for (const run of [1, 2]) {
    const ask = await call("run_command", { command: "ls -l /srv" });
    t.match(ask.question?.params.message, /ls -l \/srv/);
    t.equal(server.ran.length, run - 1);
    t.match((await ask.accept({})).json, { error: { data: { reason: "invalid_input_responses" } } });
    t.match((await ask.accept({ purpose: "to see" })).json, { result: { content: [{}] } });
    t.match(gateway.audit.at(-1), { approval: { action: "accept", fields: { purpose: "to see" } } });
  }
  t.equal(server.ran.length, 2);
  const wipe = await call("run_command", { command: "sudo rm -rf /" });
  t.match(wipe.reply.json, { error: { data: { reason: "arguments_forbidden" } } });
});

t.test("payments: a click, a word, a second person", async (t) => {
  const { server, call } = await open(t, "payments");
  t.match((await call("get_balance", { account: "a" })).reply.json, { result: { content: [{}] } });
  const small = await call("pay", { to: "DE1", amount: 5 });
  t.match(small.question?.params.message, /Pay 5 to `DE1`\?/);
  t.match((await small.accept({ reason: "tea" })).json, { result: { content: [{ text: "pay done" }] } });
  const larger = await call("pay", { to: "DE1", amount: 500 });
  t.match((await larger.accept({ reason: "rent" })).json, {
    error: { data: { reason: "invalid_input_responses" } },
  });
  t.match((await larger.accept({ reason: "rent", confirm: "500" })).json, { result: { content: [{}] } });
  t.equal(server.ran.length, 3);

  const payment = { to: "DE1", amount: 20_000 };
  const content = { reason: "house", confirm: "20000" };
  const large = await call("pay", payment);
  t.match((await large.accept(content)).json, {
    error: { data: { reason: "approval_pending", missing: 1 } },
  });
  const second = await call("pay", payment, "treasurer");
  t.match(second.question?.params.message, /somebody else/);
  t.equal(server.ran.length, 3, "neither has run");
  t.match((await second.accept(content)).json, { result: { isError: true } });
  t.equal(server.ran.length, 3, "the other's call does not run");
  t.match((await large.accept(content)).json, { result: { content: [{ text: "pay done" }] } });
  t.equal(server.ran.length, 4);
  t.match((await large.accept(content)).json, { error: { data: { reason: "already_redeemed" } } });
  t.match((await call("pay", { to: "DE1", amount: -5 })).reply.json, {
    error: { data: { reason: "arguments_forbidden" } },
  });
  t.equal(server.ran.length, 4);
});
