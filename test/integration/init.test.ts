/** `sealgate init` writes a configuration that `sealgate check` has nothing to say about, whatever the server is called and calls its own. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t from "tap";
import { createAuthorizer } from "../../src/authorization.ts";
import { loadConfig } from "../../src/config/load.ts";
import { decodeSecret } from "../../src/key-secret.ts";
import { ANONYMOUS } from "../../src/principal/principal.ts";
import { startIssuer } from "../support/issuer.ts";
import { sealgate } from "../support/program.ts";
import { startSdkServer } from "../support/sdk-server.ts";
import { listing, runInit, serverFor, tree } from "./init-scene.ts";

const TODAY = /^key-\d{4}-\d{2}-\d{2}$/;

/** What callers of a written configuration may call. */
async function mayCall(file: string): Promise<(name: string) => boolean> {
  const { config, warnings } = await loadConfig(file, process.env);
  if (warnings.length > 0) throw new Error(warnings.join("\n"));
  const authorizer = createAuthorizer(config.authorization);
  return (name) =>
    authorizer.decide(ANONYMOUS, { method: "tools/call", target: { kind: "tool", name } }).allowed;
}

t.test(
  "a real server, on a laptop: an allow-list, a key that only its owner reads, nothing to warn of",
  async (t) => {
    const server = await startSdkServer();
    t.teardown(server.close);
    const out = join(t.testdir(), "new/gateway");
    const made = await sealgate(["init", "--upstream", server.url, "--out", out]);
    t.equal(made.code, 0, made.err);
    t.equal(made.err, "");
    t.match(made.out, "14 tools, 10 prompts, 9 resources, 0 resource templates");
    t.match(made.out, `serve --config ${join(out, "sealgate.yaml")}`);
    const [key = ""] = tree(join(out, "keys"));
    t.match(key, TODAY);
    t.same(tree(out), ["keys", `keys/${key}`, "sealgate.yaml"]);
    t.equal(statSync(join(out, "keys", key)).mode & 0o777, 0o600);
    t.equal(decodeSecret(readFileSync(join(out, "keys", key))).length, 32);
    t.notMatch(
      made.out + readFileSync(join(out, "sealgate.yaml"), "utf8"),
      readFileSync(join(out, "keys", key), "utf8").trim(),
    );
    t.same(await sealgate(["check", "--config", join(out, "sealgate.yaml")]), {
      code: 0,
      out: `${join(out, "sealgate.yaml")}: ok\n`,
      err: "",
    });
    const may = await mayCall(join(out, "sealgate.yaml"));
    t.same(["form", "plain", "*", "other"].map(may), [true, true, false, false]);
  },
);

t.test("a hostile server: names that are patterns, YAML or nothing, twins, pages without end", async (t) => {
  const names = [
    "*", "a*", "?", "honest", "x]\n  - \"*\"", "\n    - id: all\n      effect: allow\n#", "# gone", "- a", "&a *b", "!!x",
    "{a: b}", "'", "\"", "a: b", "\u202ekcart", "Honest", "a|b", "^x$", "a.*", "", "x".repeat(600), "~", "null", "true", "1e3",
  ]; // biome-ignore format: one list
  const items = [...names.map((name) => ({ name })), { name: 7 }, { noName: true }, null, "text", ["a"]];
  const server = await serverFor(
    t,
    listing({
      "tools/list": [items, [{ name: "second-page" }, { name: "honest" }]],
      "prompts/list": [[{ name: "*" }]],
      "resources/list": [[{ uri: "*" }, { uri: "file:///a" }]],
      "resources/templates/list": [[{ uriTemplate: "{+all}" }, { uriTemplate: "note://a/{id}" }]],
    }),
  );
  const out = join(t.testdir(), "out");
  const made = await runInit({ upstream: server.url, out: out });
  t.equal(made.code, 0, made.err);
  t.equal(made.err, "", "nothing that check would warn of");
  const may = await mayCall(join(out, "sealgate.yaml"));
  const plain = [
    "honest",
    "Honest",
    "second-page",
    "# gone",
    "- a",
    "'",
    '"',
    "a: b",
    "\u202ekcart",
    "~",
    "null",
    "true",
    "1e3",
  ];
  t.same(
    plain.filter((name) => !may(name)),
    [],
  );
  t.same(["all", "ab", "z", "x", "a|b", "", "*", "a*", "?", "abc"].filter(may), []);
  t.match(made.out, "Some names look alike");
});

t.test("a thousand tools in pages, and a list without end, which is cut", async (t) => {
  const page = (from: number) =>
    Array.from({ length: 100 }, (_, index) => ({ name: `tool_${from + index}` }));
  const server = await serverFor(
    t,
    listing({ "tools/list": Array.from({ length: 10 }, (_, index) => page(index * 100)) }),
  );
  const out = join(t.testdir(), "out");
  const made = await runInit({ upstream: server.url, out: out });
  t.match(made.out, "1000 tools");
  t.notMatch(made.out, "taken in");
  const may = await mayCall(join(out, "sealgate.yaml"));
  t.same(["tool_0", "tool_999", "tool_1000"].map(may), [true, true, false]);

  const endless = await serverFor(t, (arrived, response) => {
    const lists = listing({ "tools/list": [[{ name: "again" }], []] });
    // Page 1 leads to page 1.
    return lists({ ...arrived, json: { ...arrived.json, params: {} } }, response);
  });
  const round = await runInit({ upstream: endless.url, out: join(t.testdir(), "round") });
  t.equal(round.code, 0, round.err);
  t.match(round.out, "Not everything could be taken in: tools");
  t.ok(endless.arrived.length < 10);
});

t.test("with an issuer: tokens are asked for, and what the issuer says stands in comments", async (t) => {
  const server = await serverFor(t, listing({ "tools/list": [[{ name: "a" }]] }));
  const issuer = await startIssuer({ path: "/tenant" });
  t.teardown(issuer.close);
  issuer.document = { scopes_supported: ["mcp", "a\nb", 7, "offline_access"] };
  const out = join(t.testdir(), "out");
  const made = await runInit({ upstream: server.url, issuer: issuer.issuer, out });
  t.equal(made.code, 0, made.err);
  t.equal(made.err, "");
  const text = readFileSync(join(out, "sealgate.yaml"), "utf8");
  t.match(text, '##   "mcp"\n');
  t.match(text, "#algorithms: [ES256]");
  const { config } = await loadConfig(join(out, "sealgate.yaml"), process.env);
  t.equal(config.authentication.mode, "required");
  t.same(
    config.authentication.issuers.map((entry) => entry.issuer),
    [issuer.issuer],
  );
});

t.test("a server that asks for a token: the token goes to it and nowhere else", async (t) => {
  const lists = listing({ "tools/list": [[{ name: "a" }]] });
  const server = await serverFor(t, (arrived, response) =>
    arrived.headers.authorization === "Bearer s3cret-token"
      ? lists(arrived, response)
      : void response.writeHead(401, { "www-authenticate": "Bearer" }).end(),
  );
  const folder = t.testdir({ token: "s3cret-token\n" });
  chmodSync(join(folder, "token"), 0o600);
  const bare = await runInit({ upstream: server.url, out: join(folder, "bare") });
  t.equal(bare.code, 69);
  t.match(bare.err, /needs a token \(HTTP 401\); give it with --upstream-token-file/);
  const file = join(folder, "token");
  process.env["SERVER_TOKEN"] = "s3cret-token";
  for (const [option, value, written] of [
    ["upstream-token-file", file, `bearer: { file: "${file}" }`],
    ["upstream-token-env", "SERVER_TOKEN", "bearer: { env: SERVER_TOKEN }"],
  ] as const) {
    const out = join(folder, option);
    const made = await runInit({ upstream: server.url, out, [option]: value });
    t.equal(made.code, 0, made.err);
    t.equal(made.err, "");
    const text = readFileSync(join(out, "sealgate.yaml"), "utf8");
    t.match(text, written);
    t.notMatch(text + made.out, "s3cret");
  }
  writeFileSync(file, "wrong");
  const wrong = await runInit({
    upstream: server.url,
    "upstream-token-file": file,
    out: join(folder, "wrong"),
  });
  t.match(wrong.err, /does not accept the given token/);
  t.notMatch(wrong.err, "wrong\n");
});

t.test(
  "nothing is written over, also no link that leads nowhere; and nothing is left of a failure",
  async (t) => {
    const server = await serverFor(t, listing({ "tools/list": [[{ name: "a" }]] }));
    const folder = t.testdir({ taken: { "sealgate.yaml": "mine" }, linked: {}, blocked: { keys: "a file" } });
    symlinkSync("nowhere", join(folder, "linked/sealgate.yaml"));
    for (const name of ["taken", "linked"]) {
      const out = join(folder, name);
      const before = tree(out);
      const made = await runInit({ upstream: server.url, out: out });
      t.equal(made.code, 73);
      t.match(
        made.err,
        `${join(out, "sealgate.yaml")}: exists already and is never overwritten\nsealgate: nothing was written\n`,
      );
      t.same(tree(out), before);
    }
    t.equal(readFileSync(join(folder, "taken/sealgate.yaml"), "utf8"), "mine");
    t.notOk(existsSync(join(folder, "linked/nowhere")));
    const blocked = await runInit({ upstream: server.url, out: join(folder, "blocked") });
    t.equal(blocked.code, 73);
    t.match(blocked.err, `${join(folder, "blocked/keys")}: exists already`);
    t.same(tree(join(folder, "blocked")), ["keys"]);
    // A folder with other things in it is fine.
    mkdirSync(join(folder, "other"));
    writeFileSync(join(folder, "other/notes.txt"), "");
    t.equal((await runInit({ upstream: server.url, out: join(folder, "other") })).code, 0);
  },
);
