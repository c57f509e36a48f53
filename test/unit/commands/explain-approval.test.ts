/** `sealgate explain` of calls that need the user's approval: who asks, and in which words. The gateway asks in the same ones. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { stringify } from "yaml";
import { explain } from "../../../src/commands/explain.ts";
import { startGateway } from "../../support/gateway.ts";
import { result, startUpstream } from "../../support/upstream.ts";

const POLICIES = [
  {
    id: "pay",
    effect: "approve",
    tools: ["pay"],
    approval: { message: "Pay {arguments.amount} to {arguments.to}?", confirm: "PAY" },
  },
  { id: "damage", effect: "approve", tools: ["*"], when: ["destructive"] },
  { id: "no", effect: "deny", tools: ["wipe"] },
];

async function explained(t: Test, name: string, args: object, json: boolean) {
  const file = join(t.testdir(), "sealgate.yaml");
  const config = {
    version: 1,
    server: { listen: "127.0.0.1:0", publicUrl: "http://gateway.test" },
    authentication: { mode: "anonymous" },
    authorization: { default: "allow", policies: POLICIES },
    routes: [{ path: "/mcp", upstream: { url: "http://127.0.0.1:9/mcp" } }],
  };
  writeFileSync(file, stringify(config));
  let text = "";
  const call = { call: "tools/call", name, arguments: JSON.stringify(args) };
  const code = await explain(
    { ...call, config: file, principal: "anonymous", route: undefined, json },
    (more) => {
      text += more;
    },
  );
  return { code, text };
}

t.test("the question is the one that the gateway puts, but for its code", async (t) => {
  const args = { to: "DE1", amount: 5, token: "hunter2" };
  const { code, text } = await explained(t, "pay", args, true);
  t.equal(code, 0);
  const report = JSON.parse(text);
  t.same(report.approval.policies, [{ id: "pay" }, { id: "damage", when: ["destructive"] }]);
  const upstream = await startUpstream((arrived, response) => result(arrived, response, "{}"));
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, {
    authorization: { default: "allow", policies: POLICIES },
  });
  t.teardown(() => gateway.close(0));
  const asked = await gateway.call({ method: "tools/call", params: { name: "pay", arguments: args } });
  const { message, requestedSchema } = asked.json.result.inputRequests.approval.params;
  const question = report.approval.questions["/mcp"];
  t.equal(question.message.replace(/\nCode: .*$/, ""), message.replace(/\nCode: .*$/, ""));
  t.same(question.requestedSchema, requestedSchema);
  t.notMatch(text, /hunter2/);
});

t.test("in words", async (t) => {
  const { text } = await explained(t, "pay", { to: "DE1", amount: 5 }, false);
  t.match(
    text,
    /^The user is asked first, by policy pay, damage \(where the tool's annotations say destructive, or are not known\)$/m,
  );
  t.match(text, /^ {2}\| Pay 5 to `DE1`\?$/m);
  t.match(text, /^ {2}form: \{"type":"object"/m);
});

t.test("nothing is said of a question where nobody is asked", async (t) => {
  const { code, text } = await explained(t, "wipe", {}, true);
  t.equal(code, 77);
  t.equal(JSON.parse(text).approval, undefined);
});
