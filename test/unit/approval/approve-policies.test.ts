/** Which calls need consent: the authorizer's part, and what annotations add. */
import t from "tap";
import { ApprovePolicies } from "../../../src/approval/approve-policies.ts";
import { readHints } from "../../../src/approval/hints.ts";
import { createAuthorizer } from "../../../src/authorization.ts";
import type { Operation } from "../../../src/compiled-policy.ts";
import type { Config } from "../../../src/config/schema.ts";
import { scan } from "../../../src/json/scan.ts";
import { ANONYMOUS } from "../../../src/principal/principal.ts";

type Policy = Config["authorization"]["policies"][number];

const on = (method: string, kind?: "tool" | "prompt" | "resource", name = "", args?: string): Operation => {
  if (kind === undefined) return { method };
  if (args === undefined) return { method, target: { kind, name } };
  const doc = scan(Buffer.from(args), { bytes: 10_000, depth: 64 });
  return { method, target: { kind, name }, arguments: { doc, node: doc.root } };
};
const decide = (policies: Policy[], operation: Operation, byDefault: "allow" | "deny" = "deny") =>
  createAuthorizer({ default: byDefault, policies }).decide(ANONYMOUS, operation);
const ask: Policy = { id: "ask", effect: "approve", tools: ["pay*"] };

t.test("it allows, and demands; no allow lowers that, and a deny wins", async (t) => {
  const pay = on("tools/call", "tool", "pay");
  t.same(decide([ask], pay), { allowed: true, policy: "ask", approvals: ["ask"] });
  for (const policies of [
    [{ id: "all", effect: "allow" }, ask],
    [ask, { id: "all", effect: "allow" }],
  ] as Policy[][])
    t.match(decide(policies, pay), { allowed: true, approvals: ["ask"] });
  t.match(decide([ask], pay, "allow"), { allowed: true, approvals: ["ask"] });
  t.match(decide([ask, { id: "no", effect: "deny", tools: ["pay"] }], pay), { allowed: false, policy: "no" });
  t.match(decide([ask], on("tools/call", "tool", "read")), { allowed: false });
  t.same(decide([ask], on("tools/call", "tool", "read"), "allow"), { allowed: true, policy: "(default)" });
  const two: Policy = { id: "two", effect: "approve" };
  t.match(decide([two, ask], pay), { approvals: ["two", "ask"] });
});

t.test("what cannot be asked about is neither allowed nor asked", async (t) => {
  const all: Policy = { id: "ask", effect: "approve" };
  for (const [method, kind] of [
    ["completion/complete", "prompt"],
    ["resources/subscribe", "resource"],
    ["logging/setLevel", undefined],
    ["custom/thing", undefined],
  ] as const) {
    t.match(decide([all], on(method, kind, "x")), { allowed: false }, method);
    const allowed = decide([all], on(method, kind, "x"), "allow");
    t.same(allowed, { allowed: true, policy: "(default)" }, method);
  }
  // A task goes on under the approval of the call that became it.
  t.same(decide([all], on("tasks/get", "tool", "x")), { allowed: true, policy: "ask" });
  t.same(decide([all], on("tools/list")), { allowed: true, policy: "(open)" });
});

t.test("in doubt about arguments and uris it does not allow, and it does ask", async (t) => {
  const small: Policy = { ...ask, arguments: [{ path: "/amount", range: { max: "100" } }] };
  const pay = (args: string) => on("tools/call", "tool", "pay", args);
  t.match(decide([small], pay('{"amount":5}')), { allowed: true, approvals: ["ask"] });
  t.match(decide([small], pay('{"amount":500}')), { allowed: false, byArguments: true });
  t.same(decide([small], pay('{"amount":500}'), "allow"), { allowed: true, policy: "(default)" });
  for (const odd of ['{"amount":"5"}', '{"Amount":5,"amount":500}', '{"amount":[500,5]}', '{"amount":{}}']) {
    t.match(decide([small], pay(odd)), { allowed: false }, odd);
    t.match(decide([small], pay(odd), "allow"), { allowed: true, approvals: ["ask"] }, odd);
  }
  const files: Policy = { id: "f", effect: "approve", resources: ["file:///secret/*"] };
  const read = (uri: string) => on("resources/read", "resource", uri);
  t.match(decide([files], read("file:///secret/a"), "allow"), { approvals: ["f"] });
  t.match(decide([files], read("FILE:///secret/%61"), "allow"), { allowed: true, approvals: ["f"] });
  t.match(decide([files], read("FILE:///secret/%61")), { allowed: false });
  t.match(decide([files], read("file:///x/../secret/a"), "allow"), { allowed: false });
});

t.test("lists show what may be used once the user agrees, and a policy with when changes none", async (t) => {
  const listed = (policies: Policy[]) =>
    createAuthorizer({ default: "deny", policies }).lists(ANONYMOUS, on("tools/call", "tool", "pay"));
  t.equal(listed([ask]), true);
  t.equal(listed([{ ...ask, when: ["destructive"] }]), false);
});

t.test("by annotations, all of what is not known", async (t) => {
  const policies = new ApprovePolicies({
    default: "allow",
    policies: [
      { ...ask, id: "a" },
      { ...ask, id: "b", when: ["destructive"] },
      { ...ask, id: "c", when: ["notReadOnly"] },
    ],
  });
  const ids = ["a", "b", "c"];
  const names = (hints: Parameters<typeof policies.demanded>[1]) =>
    policies.demanded(ids, hints).map(({ id }) => id);
  t.same(names(undefined), ids);
  t.same(names({ destructive: false, notReadOnly: false }), ["a"]);
  t.same(names({ destructive: false, notReadOnly: true }), ["a", "c"]);
  t.same(
    policies.demanded(["b"], undefined).map(({ id }) => id),
    ["b"],
  );
  t.equal(policies.named(["a", "gone"]), undefined);
  t.equal(policies.readsHints, true);
});

t.test("a tool that is no object says nothing", async (t) => {
  for (const text of ["null", "[]", '"x"', "7"]) {
    const doc = scan(Buffer.from(text), { bytes: 100, depth: 8 });
    t.same(readHints(doc, doc.root), { destructive: true, notReadOnly: true }, text);
  }
});
