import fc from "fast-check";
import t from "tap";
import { createAuthorizer } from "../../src/authorization.ts";
import { compilePolicy, type Operation } from "../../src/compiled-policy.ts";
import type { Config } from "../../src/config/schema.ts";
import { readUri } from "../../src/mcp/resource-uri.ts";
import { PolicyIndex } from "../../src/policy-index.ts";
import { ANONYMOUS, type Principal } from "../../src/principal/principal.ts";

type Policy = Config["authorization"]["policies"][number];

const caller: Principal = {
  anonymous: false,
  issuer: "https://idp-a.example",
  subject: "u-7",
  client: "app",
  groups: ["g-7", "staff"],
  scopes: ["s-7"],
};
const callOf = (name: string): Operation => ({ method: "tools/call", target: { kind: "tool", name } });

/** So many policies, made from their numbers. */
const many = (count: number, of: (n: number) => Omit<Policy, "id" | "effect">): PolicyIndex =>
  new PolicyIndex(
    Array.from({ length: count }, (_, n) =>
      compilePolicy({ id: `p${n}`, effect: "allow", ...of(n) }, "allow"),
    ),
  );
const idsOf = (index: PolicyIndex, operation: Operation, principal = caller): string[] =>
  index.candidates(principal, operation, undefined).map(({ id }) => id);

t.test("of a thousand policies as few are asked as of twenty, whatever tells them apart", async (t) => {
  const kinds: Record<string, (n: number) => Omit<Policy, "id" | "effect">> = {
    names: (n) => ({ tools: [`tool-${n}`] }),
    beginnings: (n) => ({ tools: [`tool-${n}-*`, `tool-${n}`] }),
    "one character": (n) => ({ tools: [`tool-${n}`, `x-${n}-?`] }),
    subjects: (n) => ({ tools: ["*"], principal: { subjects: [`u-${n}`] } }),
    groups: (n) => ({ tools: ["tool-*"], principal: { groups: [`g-${n}`] } }),
    scopes: (n) => ({ principal: { scopes: [`s-${n}`], issuers: ["*"] } }),
    "names of tools and of prompts": (n) => ({ tools: [`tool-${n}`], prompts: [`tool-${n}`] }),
  };
  for (const [label, of] of Object.entries(kinds))
    for (const count of [20, 1_000]) t.same(idsOf(many(count, of), callOf("tool-7")), ["p7"], label);
});

t.test("those that say nothing to find them by are always asked, in the order of the file", async (t) => {
  const of = (n: number): Omit<Policy, "id" | "effect"> =>
    n === 40 ? {} : n === 3 ? { methods: ["tools/*"] } : n === 5 ? { tools: [] } : { tools: [`tool-${n}`] };
  const index = many(100, of);
  t.same(idsOf(index, callOf("tool-7")), ["p3", "p7", "p40"]);
  t.same(idsOf(index, { method: "tools/list" }), ["p3", "p40"]);
  t.same(idsOf(index, callOf("tool-5")), ["p3", "p40"], "an empty list means nothing");
});

t.test("a policy is found once, whichever of its patterns fit", async (t) => {
  const index = many(30, (n) => ({ tools: [`tool-${n}`, `tool-${n}*`, `to*-${n}`] }));
  t.same(
    idsOf(index, callOf("tool-7")).filter((id) => id === "p7"),
    ["p7"],
  );
});

t.test("a deny is found by every spelling of what it names", async (t) => {
  const policies = Array.from({ length: 50 }, (_, n) =>
    compilePolicy({ id: `p${n}`, effect: "deny", resources: [`file:///docs-${n}/*`] }, "deny"),
  );
  const index = new PolicyIndex(policies);
  for (const name of ["file:///docs-7/a", "FILE:///docs%2d7/a", "file:///docs-7\\a"]) {
    const operation: Operation = { method: "resources/read", target: { kind: "resource", name } };
    t.same(
      index.candidates(caller, operation, readUri(name)).map(({ id }) => id),
      ["p7"],
      name,
    );
  }
});

const names = ["a", "ab", "abc", "b", "", "a*", "?b", "*", "**", "a?c*", "*c", "\ud83d?", "\u{1f600}*"];
const patterns = fc.option(fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 }), { nil: undefined });
const uris = ["file:///a/b", "file:///a/*", "FILE:///a/*", "*", "file:///%61/b", "file:///a/?", "x:a*"];
const uriPatterns = fc.option(fc.uniqueArray(fc.constantFrom(...uris), { minLength: 1, maxLength: 2 }), {
  nil: undefined,
});
const policy = fc.record({
  effect: fc.constantFrom("allow" as const, "deny" as const, "approve" as const),
  tools: patterns,
  prompts: patterns,
  resources: uriPatterns,
  methods: fc.option(fc.constant<string[]>(["tools/*"]), { nil: undefined }),
  principal: fc.option(
    fc.record({
      subjects: patterns,
      clients: patterns,
      groups: patterns,
      scopes: patterns,
      issuers: patterns,
    }),
    { nil: undefined },
  ),
});
const target = fc.oneof(
  fc.record({
    kind: fc.constantFrom("tool" as const, "prompt" as const),
    name: fc.constantFrom(...names, "\u{1f600}"),
  }),
  fc.record({
    kind: fc.constant("resource" as const),
    name: fc.constantFrom(...uris, "file:///a/%62", " file:///a/b", "file:///a\\b", "x:ab"),
  }),
);
const METHODS = { tool: "tools/call", prompt: "prompts/get", resource: "resources/read" };
const principal = fc.oneof(
  fc.constant(ANONYMOUS),
  fc.record({
    anonymous: fc.constant(false as const),
    issuer: fc.constantFrom("a", "abc"),
    subject: fc.constantFrom(...names),
    client: fc.constantFrom(...names),
    groups: fc.array(fc.constantFrom(...names), { maxLength: 3 }),
    scopes: fc.array(fc.constantFrom(...names), { maxLength: 3 }),
  }),
);

/** As it came, without what is absent. */
const present = <T extends object>(given: T): T =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [[name, Array.isArray(value) || typeof value !== "object" ? value : present(value)]],
    ),
  ) as T;

t.test("what is left out does not match: a policy by itself, which is always asked, says so", async (t) => {
  const property = fc.property(
    fc.array(policy, { minLength: 17, maxLength: 40 }),
    principal,
    fc.option(target, { nil: undefined }),
    (drawn, who, aim) => {
      const list = drawn.map((one, n) => present({ id: `p${n}`, ...one }) as Policy);
      const operation: Operation =
        aim === undefined ? { method: "tools/list" } : { method: METHODS[aim.kind], target: aim };
      const uri = aim?.kind === "resource" ? readUri(aim.name) : undefined;
      for (const as of ["allow", "deny"] as const) {
        const index = new PolicyIndex(list.map((one) => compilePolicy(one, as)));
        const found = index.candidates(who, operation, uri);
        const fits = index.all.filter(
          (one) => one.unfit(who, operation, { uri, given: undefined }) === undefined,
        );
        if (fits.some((one) => !found.includes(one))) return false;
      }
      const authorizer = createAuthorizer({ default: "deny", policies: list });
      const explained = authorizer.explain(who, operation).decision;
      return JSON.stringify(authorizer.decide(who, operation)) === JSON.stringify(explained);
    },
  );
  fc.assert(property, { numRuns: 500 });
  t.pass();
});
