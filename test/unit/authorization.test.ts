import fc from "fast-check";
import t from "tap";
import { BY_DEFAULT, BY_DOT_SEGMENT, BY_OPEN_METHOD, createAuthorizer } from "../../src/authorization.ts";
import type { Operation } from "../../src/compiled-policy.ts";
import type { Config } from "../../src/config/schema.ts";
import { ANONYMOUS, type Principal } from "../../src/principal/principal.ts";

type Policy = Config["authorization"]["policies"][number];
type Kind = NonNullable<Operation["target"]>["kind"];

const caller: Principal = {
  anonymous: false,
  issuer: "https://idp-a.example",
  subject: "u-1001",
  client: "app",
  groups: ["staff", "finance"],
  scopes: ["notes:read"],
};
const { client: _, ...clientless } = caller;

const on = (method: string, kind?: Kind, name = ""): Operation =>
  kind === undefined ? { method } : { method, target: { kind, name } };
const callNote = on("tools/call", "tool", "read_note");

function decide(
  policies: Policy[],
  operation: Operation,
  principal = caller,
  byDefault: "allow" | "deny" = "deny",
) {
  return createAuthorizer({ default: byDefault, policies }).decide(principal, operation);
}

t.test("the default decides where no policy matches", async (t) => {
  t.same(decide([], callNote), { allowed: false, policy: BY_DEFAULT });
  t.same(decide([], callNote, caller, "allow"), { allowed: true, policy: BY_DEFAULT });
});

t.test("deny wins over allow in either order, and names the policy", async (t) => {
  const allow: Policy = { id: "all", effect: "allow" };
  const deny: Policy = { id: "no-delete", effect: "deny", tools: ["delete_*"] };
  for (const policies of [
    [allow, deny],
    [deny, allow],
  ]) {
    t.same(decide(policies, callNote), { allowed: true, policy: "all" });
    t.same(decide(policies, on("tools/call", "tool", "delete_note")), {
      allowed: false,
      policy: "no-delete",
    });
  }
});

t.test(
  "spellings of a uri: an allow holds for one, a deny for all, and dot segments fit no pattern",
  async (t) => {
    const resources = ["file:///docs/*"];
    const read = (uri: string) => on("resources/read", "resource", uri);
    for (const uri of ["FILE:///docs/a", "file:///%64ocs/a", "file:///docs\\a", " file:///docs/a"]) {
      t.notOk(decide([{ id: "p", effect: "allow", resources }], read(uri), caller, "deny").allowed, uri);
      t.notOk(decide([{ id: "p", effect: "deny", resources }], read(uri), caller, "allow").allowed, uri);
    }
    const climbing = read("file:///docs/%2e%2e/a");
    const refused = { allowed: false, policy: BY_DOT_SEGMENT };
    t.same(decide([{ id: "p", effect: "allow", resources }], climbing, caller, "deny"), refused);
    t.same(
      decide([{ id: "p", effect: "deny", resources }], read("file:///x/../docs/a"), caller, "allow"),
      refused,
    );
    t.ok(decide([{ id: "p", effect: "allow", resources: ["*"] }], climbing, caller, "deny").allowed);
  },
);

t.test("target selectors match operations of a kind they name", async (t) => {
  const table: [Omit<Policy, "id" | "effect">, Operation, boolean][] = [
    [{ tools: ["read_*"] }, callNote, true],
    [{ tools: ["read_*"] }, on("tools/call", "tool", "delete_note"), false],
    [{ tools: ["read_*"] }, on("prompts/get", "prompt", "read_note"), false],
    [{ tools: ["*"] }, on("logging/setLevel"), false],
    [{ tools: ["read_*"], prompts: ["p"] }, on("prompts/get", "prompt", "p"), true],
    [{ tools: ["read_*"], prompts: ["p"] }, on("prompts/get", "prompt", "read_x"), false],
    [{ tools: ["read_*"], prompts: ["p"] }, on("resources/read", "resource", "p"), false],
    [{ resources: ["file:///docs/*"] }, on("resources/read", "resource", "file:///docs/a"), true],
    [{ resources: ["file:///docs/*"] }, on("resources/read", "resource", "file:///doc/a"), false],
    [{ resources: ["file:///docs/*"] }, on("resources/subscribe", "resource", "file:///docs/a"), true],
    [{ prompts: ["p"] }, on("completion/complete", "prompt", "p"), true],
    [{ methods: ["tools/call"] }, callNote, true],
    [{ methods: ["tools/call"], tools: ["x"] }, callNote, false],
    [{ methods: ["prompts/*"], tools: ["read_note"] }, callNote, false],
    [{ methods: ["logging/*"] }, on("logging/setLevel"), true],
    [{ methods: ["tools/CALL"] }, callNote, false],
    [{ tools: [] }, callNote, false],
    [{}, callNote, true],
    [{}, on("logging/setLevel"), true],
  ];
  for (const [selectors, operation, matches] of table) {
    const label = JSON.stringify([selectors, operation]);
    t.equal(
      decide([{ id: "p", effect: "allow", ...selectors }], operation).allowed,
      matches,
      `allow ${label}`,
    );
    const denied = !decide([{ id: "p", effect: "deny", ...selectors }], operation, caller, "allow").allowed;
    t.equal(denied, matches, `deny ${label}`);
  }
});

t.test("principal selectors: every kind given, any of its patterns, absent matches nothing", async (t) => {
  const table: [NonNullable<Policy["principal"]>, Principal, boolean][] = [
    [{}, caller, true],
    [{ subjects: ["u-*"] }, caller, true],
    [{ subjects: ["u-2002"] }, caller, false],
    [{ subjects: ["x", "u-1001"] }, caller, true],
    [{ issuers: ["https://idp-a.example"] }, caller, true],
    [{ issuers: ["https://idp-a.example/"] }, caller, false],
    [{ issuers: ["https://idp-b.example"], subjects: ["u-1001"] }, caller, false],
    [{ groups: ["finance"] }, caller, true],
    [{ groups: ["fin*"], scopes: ["notes:*"] }, caller, true],
    [{ groups: ["finance"], scopes: ["notes:write"] }, caller, false],
    [{ groups: ["*"] }, { ...caller, groups: [] }, false],
    [{ groups: [] }, caller, false],
    [{ clients: ["app"] }, caller, true],
    [{ clients: ["*"] }, clientless, false],
    [{ anonymous: true }, caller, false],
    [{ anonymous: false }, caller, true],
    [{ anonymous: true }, ANONYMOUS, true],
    [{ anonymous: false }, ANONYMOUS, false],
    [{ subjects: ["*"] }, ANONYMOUS, false],
    [{ issuers: ["*"] }, ANONYMOUS, false],
  ];
  for (const [principal, who, matches] of table) {
    const policy: Policy = { id: "p", effect: "allow", principal };
    t.equal(decide([policy], callNote, who).allowed, matches, JSON.stringify(principal));
  }
});

t.test("lists, discovery, listening and notifications are open to every principal", async (t) => {
  const open = [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "server/discover",
    "subscriptions/listen",
    "initialize",
    "ping",
    "notifications/cancelled",
  ];
  const closing: Policy[] = [
    { id: "everything", effect: "deny" },
    { id: "tools", effect: "deny", tools: ["*"] },
    { id: "both", effect: "deny", methods: ["*"], tools: ["*"] },
  ];
  for (const method of open) {
    t.same(decide(closing, on(method)), { allowed: true, policy: BY_OPEN_METHOD }, method);
    const named: Policy = { id: "named", effect: "deny", methods: [method] };
    t.same(decide([named], on(method)), { allowed: false, policy: "named" }, `${method} named`);
    const others: Policy = { ...named, principal: { subjects: ["u-2002"] } };
    t.equal(decide([others], on(method)).allowed, true, `${method} denied to somebody else`);
  }
  for (const method of ["tools/call", "notification/x", "tools/list/x", "Ping", "tasks/get"]) {
    t.equal(decide([], on(method)).allowed, false, method);
  }
});

t.test("open only when nothing can be denied", async (t) => {
  const allow: Policy = { id: "a", effect: "allow" };
  const deny: Policy = { id: "d", effect: "deny", tools: ["x"] };
  t.equal(createAuthorizer({ default: "allow", policies: [allow] }).open, true);
  t.equal(createAuthorizer({ default: "allow", policies: [deny] }).open, false);
  t.equal(createAuthorizer({ default: "deny", policies: [allow] }).open, false);
});

t.test("an effect of another version is no policy to ignore", async (t) => {
  const policy = { id: "later", effect: "ask" } as unknown as Policy;
  t.throws(() => createAuthorizer({ default: "allow", policies: [policy] }), /later/);
});

const names = fc.subarray(["read", "re*", "delete", "*", "d?lete"], { minLength: 1 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const policies = fc.array(
  fc
    .record({
      effect: fc.constantFrom("allow", "deny"),
      methods: maybe(fc.subarray(["tools/*", "tools/call", "prompts/get", "*"], { minLength: 1 })),
      tools: maybe(names),
      prompts: maybe(names),
      principal: maybe(fc.constantFrom({ subjects: ["u-1001"] }, { subjects: ["x"] }, { groups: ["staff"] })),
    })
    .map((policy) => {
      return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined));
    }),
  { maxLength: 6 },
);
const operations = fc.constantFrom<Operation>(
  on("tools/call", "tool", "read"),
  on("tools/call", "tool", "delete"),
  on("prompts/get", "prompt", "read"),
  on("logging/setLevel"),
  on("tools/list"),
);
const named = (list: Record<string, unknown>[]) =>
  list.map((policy, index) => ({ id: `p${index}`, ...policy })) as unknown as Policy[];

t.test("property: order never matters", async () => {
  const shuffled = policies.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
  );
  fc.assert(
    fc.property(
      shuffled,
      operations,
      fc.constantFrom("allow", "deny"),
      ([list, other], operation, byDefault) => {
        const a = decide(named(list), operation, caller, byDefault);
        const b = decide(named(other), operation, caller, byDefault);
        return a.allowed === b.allowed;
      },
    ),
  );
});

t.test("property: a deny that matches alone still denies among any others", async () => {
  fc.assert(
    fc.property(policies, policies, operations, (list, more, operation) => {
      const denies = named(list.filter((policy) => policy["effect"] === "deny"));
      const alone = decide(denies, operation, caller, "allow");
      const among = decide([...named(more), ...denies], operation, caller, "allow");
      return alone.allowed || !among.allowed;
    }),
  );
});

t.test("property: an allow never takes away, an open authorizer never denies", async () => {
  fc.assert(
    fc.property(policies, operations, fc.constantFrom("allow", "deny"), (list, operation, byDefault) => {
      const before = decide(named(list), operation, caller, byDefault);
      const after = decide([...named(list), { id: "all", effect: "allow" }], operation, caller, byDefault);
      const { open, decide: judge } = createAuthorizer({ default: byDefault, policies: named(list) });
      return (!before.allowed || after.allowed) && (!open || judge(caller, operation).allowed);
    }),
  );
});
