import fc from "fast-check";
import t from "tap";
import { createAuthorizer } from "../../src/authorization.ts";
import type { Operation } from "../../src/compiled-policy.ts";
import { scan } from "../../src/json/scan.ts";
import { isHiddenUpdate } from "../../src/lists.ts";
import type { Principal } from "../../src/principal/principal.ts";
import { createScopeHierarchy, createScopeRules } from "../../src/scopes.ts";

const tool = (name: string, method = "tools/call"): Operation => ({ method, target: { kind: "tool", name } });
const resource = (name: string): Operation => ({
  method: "resources/read",
  target: { kind: "resource", name },
});
type Requirements = NonNullable<Parameters<typeof createScopeRules>[0]["scopes"]>;
const needs = (scopes: Requirements, operation: Operation, hidden = false) =>
  createScopeRules({ scopes }).neededFor(operation, hidden);

t.test("all entries that fit count, each scope once, in the order of the file", async (t) => {
  const scopes = [
    { methods: ["tools/*"], requires: ["call", "base"] },
    { tools: ["file_*"], requires: ["files", "base"] },
    { tools: ["file_*"], prompts: ["p"], methods: ["tools/call"], requires: ["write"] },
    { requires: ["base"] },
    { prompts: ["*"], requires: ["prompt"] },
  ];
  const table: [Operation, string[]][] = [
    [tool("file_a"), ["call", "base", "files", "write"]],
    [tool("other"), ["call", "base"]],
    [tool("file_a", "tasks/get"), ["files", "base"]],
    [{ method: "tools/list" }, ["call", "base"]],
    [{ method: "prompts/get", target: { kind: "prompt", name: "p" } }, ["base", "prompt"]],
    [{ method: "notifications/x" }, ["base"]],
    [resource("file:///x"), ["base"]],
  ];
  for (const [operation, needed] of table)
    t.same(needs(scopes, operation), needed, JSON.stringify(operation));
  t.same(createScopeRules({}).neededFor(tool("x"), false), []);
});

t.test("of what is hidden only counts what says nothing of one name", async (t) => {
  const scopes = [
    { methods: ["tools/call"], requires: ["call"] },
    { tools: ["secret"], requires: ["named"] },
    { tools: ["s*", "secret"], requires: ["pattern"] },
    { methods: ["x/secret"], requires: ["method"] },
    { methods: ["x/*"], requires: ["methods"] },
  ];
  t.same(needs(scopes, tool("secret"), true), ["call", "pattern"]);
  t.same(
    needs(scopes, tool("secret"), true),
    needs(scopes, tool("sibling")),
    "the same as a name nobody has",
  );
  t.same(needs(scopes, tool("secret")), ["call", "named", "pattern"]);
  t.same(needs(scopes, { method: "x/secret" }, true), ["methods"]);
  t.same(needs(scopes, { method: "x/secret" }), ["method", "methods"]);
});

t.test("a resource needs its scopes in every spelling, and in those that nobody can judge", async (t) => {
  const scopes = [{ resources: ["file:///secret/*"], requires: ["s"] }];
  for (const uri of [
    "file:///secret/a",
    "FILE:///secret/a",
    "file:///%73ecret/a",
    "file://localhost/secret/a",
    "file:///x/../secret/a",
    "file:///x/%2e%2e/secret/a",
    "file:///sec\u0000ret/a",
  ]) {
    t.same(needs(scopes, resource(uri)), ["s"], JSON.stringify(uri));
  }
  t.same(needs(scopes, resource("file:///public/a")), []);
});

t.test("a hierarchy reaches as far as it goes, and a circle ends", async (t) => {
  const { widen, covers } = createScopeHierarchy({ a: ["b", "c"], b: ["d"], d: ["e"], x: ["y"], y: ["x"] });
  t.same(widen(["a"]), ["a", "b", "c", "d", "e"]);
  t.same([...widen(["x"])].sort(), ["x", "y"]);
  t.ok(covers(["a"], ["e", "c"]));
  t.notOk(covers(["b"], ["a"]));
  t.notOk(covers(["b"], ["c"]));
  t.ok(covers([], []));
  t.notOk(covers(["constructor"], ["toString"]));
  const none = createScopeHierarchy();
  const own = ["p"];
  t.equal(none.widen(own), own);
  t.notOk(none.covers(own, ["q"]));
});

t.test("property: more scopes never cover less", async () => {
  const scope = fc.constantFrom("a", "b", "c", "d", "e");
  const list = fc.array(scope, { maxLength: 4 });
  fc.assert(
    fc.property(fc.dictionary(scope, list), list, list, scope, (includes, held, needed, more) => {
      const { covers, widen } = createScopeHierarchy(includes);
      if (!covers(held, held)) return false;
      if (covers(held, needed) && !covers([...held, more], needed)) return false;
      return covers(held, [...widen(held)]);
    }),
  );
});

const alice = (...scopes: string[]): Principal => ({
  anonymous: false,
  issuer: "https://idp.example",
  subject: "alice",
  groups: [],
  scopes,
});

t.test("policies see what the scopes held include", async (t) => {
  const authorizer = createAuthorizer({
    default: "deny",
    policies: [
      { id: "readers", effect: "allow", principal: { scopes: ["files:read"] }, tools: ["read"] },
      { id: "no-writers", effect: "deny", principal: { scopes: ["files:write"] }, tools: ["quiz"] },
      { id: "quiz", effect: "allow", tools: ["quiz"] },
    ],
    scopeIncludes: { "files:admin": ["files:write"], "files:write": ["files:read"] },
  });
  t.same(authorizer.decide(alice("files:admin"), tool("read")), { allowed: true, policy: "readers" });
  t.equal(authorizer.decide(alice("files"), tool("read")).allowed, false);
  t.same(authorizer.decide(alice("files:admin"), tool("quiz")), { allowed: false, policy: "no-writers" });
  t.equal(authorizer.explain(alice("files:admin"), tool("read")).decision.allowed, true);
  t.equal(authorizer.decide(alice("files:read"), tool("quiz")).allowed, true);
});

t.test("lists are whole, or show what the scopes held reach", async (t) => {
  const scopes = [{ tools: ["write"], requires: ["w"] }];
  const base = { default: "allow", policies: [], scopes } as const;
  const whole = createAuthorizer({ ...base, policies: [], scopes });
  const held = createAuthorizer({ ...base, policies: [], scopes, scopedLists: "held" });
  t.ok(whole.open);
  t.notOk(held.open, "what a list shows depends on who asks");
  t.ok(whole.lists(alice(), tool("write")));
  t.notOk(held.lists(alice(), tool("write")));
  t.ok(held.lists(alice("w"), tool("write")));
  t.ok(held.lists(alice(), tool("read")));
  t.ok(held.decide(alice(), tool("write")).allowed, "a call is told which scope to get");
});

t.test("updates of resources that no scope held reaches stay away, whatever lists show", async (t) => {
  const scopes = [{ methods: ["resources/read"], resources: ["file:///a/*"], requires: ["a"] }];
  const authorizer = createAuthorizer({ default: "allow", policies: [], scopes });
  const hidden = (uri: unknown, ...held: string[]) => {
    const text = JSON.stringify({ method: "notifications/resources/updated", params: { uri } });
    const doc = scan(Buffer.from(text), { bytes: 1_000, depth: 8 });
    const message = { method: "notifications/resources/updated", params: doc.get(doc.root, "params") };
    return isHiddenUpdate(authorizer, alice(...held), doc, message);
  };
  t.ok(hidden("file:///a/x"));
  t.ok(hidden("file:///%61/x"), "in any spelling");
  t.notOk(hidden("file:///a/x", "a"));
  t.notOk(hidden("file:///b/x"));
  t.ok(hidden(7, "a"), "what cannot be read");
});
