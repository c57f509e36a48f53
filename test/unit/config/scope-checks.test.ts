/** Scopes that lead in circles, are asked for nothing, or can be had by nobody. */
import t from "tap";
import { load, SOUND } from "./load-text.ts";

const AUTHORIZATION = (more: string) =>
  SOUND.replace(/authorization:\n.*\n/, `authorization:\n  policies: [{ id: all, effect: allow }]\n${more}`);
const ANONYMOUS = (more: string) =>
  AUTHORIZATION(more).replace("  issuers:\n    - issuer: https://login.example.com", "  mode: anonymous");

const PROBLEMS: [name: string, bad: string, message: RegExp, good: string][] = [
  [
    "a scope that includes itself",
    AUTHORIZATION("  scopeIncludes: { a: [a] }\n"),
    /authorization\.scopeIncludes\.a: includes itself, by way of what it includes, allowed/,
    AUTHORIZATION("  scopeIncludes: { a: [b] }\n"),
  ],
  [
    "a circle of three",
    AUTHORIZATION('  scopeIncludes: { "x:a": [b], b: [c], c: ["x:a"], d: [b] }\n'),
    /authorization\.scopeIncludes\.x:a: includes itself/,
    AUTHORIZATION('  scopeIncludes: { "x:a": [b], b: [c], c: [d], e: [b] }\n'),
  ],
  [
    "a method that is mistyped",
    AUTHORIZATION("  scopes: [{ methods: [tool/call], requires: [a] }]\n"),
    /scopes\[0\]\.methods\[0\]: fits no method of MCP, so it asks for nothing, did you mean tools\/call\?/,
    AUTHORIZATION("  scopes: [{ methods: [tools/call], requires: [a] }]\n"),
  ],
  [
    "no scope at all",
    AUTHORIZATION("  scopes: [{ tools: [x], requires: [] }]\n"),
    /scopes\[0\]\.requires: .*a list with one entry or more/,
    AUTHORIZATION("  scopes: [{ tools: [x], requires: [a] }]\n"),
  ],
  [
    "two scopes in one",
    AUTHORIZATION('  scopes: [{ tools: [x], requires: ["a b"] }]\n'),
    /scopes\[0\]\.requires\[0\]: .*one scope/,
    AUTHORIZATION('  scopes: [{ tools: [x], requires: ["a:b/c"] }]\n'),
  ],
  [
    "an issuer of metadata that is none",
    SOUND.replace(
      "- path: /mcp\n",
      '- path: /mcp\n    metadata: { issuers: ["https://login.example.com/"] }\n',
    ),
    /routes\[0\]\.metadata\.issuers\[0\]: is no issuer of tokens/,
    SOUND.replace(
      "- path: /mcp\n",
      '- path: /mcp\n    metadata: { issuers: ["https://login.example.com"] }\n',
    ),
  ],
];
for (const [name, bad, message, good] of PROBLEMS) {
  t.test(name, async (t) => {
    const found = (await load(t, bad)).problems.filter((line) => message.test(line));
    t.equal(found.length, 1, (await load(t, bad)).problems.join("\n"));
    t.same((await load(t, good)).problems, []);
  });
}

const WARNINGS: [name: string, bad: string, message: RegExp, good: string][] = [
  [
    "scopes that nobody has",
    ANONYMOUS("  scopes: [{ tools: [x], requires: [a] }]\n"),
    /authorization\.scopes: are had by nobody/,
    AUTHORIZATION("  scopes: [{ tools: [x], requires: [a] }]\n"),
  ],
  [
    "offline_access",
    AUTHORIZATION("  scopes: [{ tools: [x], requires: [a, offline_access] }]\n"),
    /scopes\[0\]\.requires\[1\]: is offline_access/,
    AUTHORIZATION("  scopes: [{ tools: [x], requires: [a, offline] }]\n"),
  ],
  [
    "offline_access of all tokens",
    SOUND.replace(
      "    - issuer: https://login.example.com",
      "    - issuer: https://login.example.com\n      requiredScopes: [offline_access]",
    ),
    /issuers\[0\]\.requiredScopes\[0\]: is offline_access/,
    SOUND,
  ],
  [
    "scopes to start with that are not enough",
    SOUND.replace(
      "    - issuer: https://login.example.com",
      "    - issuer: https://login.example.com\n      requiredScopes: [mcp]",
    ).replace("- path: /mcp\n", "- path: /mcp\n    metadata: { scopes: [other] }\n"),
    /routes\[0\]\.metadata\.scopes: leave out what all tokens/,
    SOUND.replace(
      "    - issuer: https://login.example.com",
      "    - issuer: https://login.example.com\n      requiredScopes: [mcp]",
    ).replace("- path: /mcp\n", "- path: /mcp\n    metadata: { scopes: [mcp, other] }\n"),
  ],
  [
    "names that the methods never carry",
    AUTHORIZATION("  scopes: [{ methods: [prompts/get], tools: [x], requires: [a] }]\n"),
    /scopes\[0\]\.tools: never matches/,
    AUTHORIZATION("  scopes: [{ methods: [prompts/get], prompts: [x], requires: [a] }]\n"),
  ],
  [
    "lists by scopes that are not there",
    AUTHORIZATION("  scopedLists: held\n"),
    /authorization\.scopedLists: changes nothing/,
    AUTHORIZATION("  scopedLists: held\n  scopes: [{ tools: [x], requires: [a] }]\n"),
  ],
];
for (const [name, bad, message, good] of WARNINGS) {
  t.test(`warning: ${name}`, async (t) => {
    const found = await load(t, bad);
    t.same(found.problems, []);
    t.equal(found.warnings.filter((line) => message.test(line)).length, 1, found.warnings.join("\n"));
    t.same(
      (await load(t, good)).warnings.filter((line) => message.test(line)),
      [],
    );
  });
}
