/** The program as people start it: what it prints where, and how it exits. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { COMMANDS } from "../../src/commands/commands.ts";
import { EXIT } from "../../src/commands/exit.ts";
import { decodeSecret } from "../../src/key-secret.ts";
import { type Outcome, openCommands } from "../support/commands.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MAIN = join(ROOT, "src/main.ts");

function start(
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"], ...options });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      out += piece;
    });
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      err += piece;
    });
    child.on("error", reject).on("close", (code) => resolve({ code, out, err }));
  });
}

const here = openCommands(t, { cwd: ROOT });
const sealgate = (...args: string[]): Promise<Outcome> => here(args);
const noStack = (t: Test, { out, err }: Outcome): void => {
  t.notMatch(out + err, /^\s+at .*:\d+/m);
};

t.test("help and version go to standard output", async (t) => {
  for (const args of [
    ["--help"],
    ["-h"],
    ["serve", "--help"],
    ["check", "-h"],
    ["schema", "--help"],
    ["keys", "new", "--help"],
    ["keys", "--help"],
    ["keys", "help"],
    ["help"],
    ["help", "serve"],
    ["help", "keys", "new"],
    ["help", "grants"],
  ]) {
    const { code, out, err } = await sealgate(...args);
    t.equal(code, 0, args.join(" "));
    t.match(out, /Usage:/);
    t.match(out, /Exit codes:\n +0 {2}\S/);
    t.match(out, / 64 {2}/);
    t.equal(err, "");
  }
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  t.same(await sealgate("--version"), { code: 0, out: `${version}\n`, err: "" });
  t.same(await sealgate("version"), { code: 0, out: `${version}\n`, err: "" });
  t.equal((await sealgate("help", "keys", "new")).out, (await sealgate("keys", "new", "--help")).out);
});

t.test("a wrong command line: one line, the usage, exit 64, nothing on standard output", async (t) => {
  const cases: [string[], RegExp][] = [
    [[], /a command is missing/],
    [["chek"], /unknown command, did you mean check\?/],
    [["frobnicate"], /unknown command\n/],
    [["--config", "x"], /a command comes first/],
    [["keys"], /keys needs one of: keys new/],
    [["keys", "old"], /keys needs one of: keys new.*\nMore: sealgate keys --help\n/],
    [["keys", "lst"], /did you mean keys list\?\n/],
    [["help", "chek"], /unknown command, did you mean check\?\nMore: sealgate --help\n/],
    [["grants", "deny", "--ttl", "100d"], /the units are ms, s, m and h\n/],
    [["check"], /check needs --config FILE\n/],
    [["check", "--config"], /--config/],
    [["check", "--config", ""], /--config needs a value/],
    [["check", "--config", "a", "--config", "b"], /--config is given twice/],
    [["check", "a.yaml"], /Unexpected argument 'a\.yaml', use --config FILE\n/],
    [["serve", "a.yaml"], /Unexpected argument 'a\.yaml', use --config FILE\n/],
    [["keys", "new", "a"], /Unexpected argument 'a', use --out FILE\n/],
    [["schema", "a"], /Unexpected argument 'a'\n/],
    [["check", "--conifg", "a"], /Unknown option '--conifg', did you mean --config\?\n/],
    [["serve", "--upstreams", "a"], /did you mean --upstream\?\n/],
    [["check", "--hlep"], /did you mean --help\?\n/],
    [["check", "--frobnicate"], /Unknown option '--frobnicate'\n/],
    [["schema", "--config", "a"], /Unknown option/],
    [["serve"], /exactly one of --config and --upstream, found neither\n/],
    [
      ["serve", "--config", "a", "--upstream", "http://a/"],
      /exactly one of --config and --upstream, found both\n/,
    ],
    [["serve", "--config", "a", "--listen", "127.0.0.1:1"], /--listen goes with --upstream/],
    [["serve", "--upstream", "ftp://a/"], /the upstream must be/],
    [["serve", "--upstream", "http://u:hunter2@a/"], /the upstream must be/],
    [["serve", "--upstream", "http://a/", "--listen", "8080"], /--listen is not HOST:PORT/],
    [["serve", "--upstream", "http://a/", "--listen", "0.0.0.0:8080"], /loopback only/],
  ];
  const outcomes = await Promise.all(cases.map(([args]) => sealgate(...args)));
  for (const [index, [args, message]] of cases.entries()) {
    const outcome = outcomes[index] ?? { code: null, out: "", err: "" };
    t.equal(outcome.code, 64, args.join(" "));
    t.equal(outcome.out, "");
    t.match(outcome.err, message);
    t.match(outcome.err, /^sealgate: .*\n(Usage: sealgate .*\n)?More: sealgate .*--help\n$/);
    t.notMatch(outcome.err, /hunter2/);
    noStack(t, outcome);
  }
});

t.test("usage lines name all options, and exit codes are told in words that fit the command", async (t) => {
  for (const { words, usage, options, exits } of COMMANDS) {
    for (const name of Object.keys(options)) t.match(usage, `--${name}`, `${words.join(" ")} --${name}`);
    const names = exits.map((exit) => (typeof exit === "string" ? exit : exit[0]));
    t.same(names, [...new Set(names)]);
    // What means something else for each command has to be said for each.
    for (const exit of exits)
      if (typeof exit === "string") t.notMatch(EXIT[exit][1], ";", `${words.join(" ")}: ${exit}`);
  }
  t.notMatch((await sealgate("grants", "allow", "--help")).out, /token would be|no such entry/);
  t.match((await sealgate("serve", "--help")).out, /^ +1 {2}ended without having drained/m);
});

t.test("check: ok on standard output, warnings and problems on standard error", async (t) => {
  const good = await sealgate("check", "--config", "config/sealgate.yaml");
  t.equal(good.code, 0);
  t.equal(good.out, "config/sealgate.yaml: ok\n");
  t.match(good.err, /^warning: config\/sealgate\.yaml:\d+:\d+ keys: is absent/);

  const folder = t.testdir({
    "bad.yaml": "version: 1\nlog: { levle: info }\nkeys: hunter2\n",
    "broken.yaml": "a: [\n",
  });
  for (const command of ["check", "serve"]) {
    const bad = await sealgate(command, "--config", join(folder, "bad.yaml"));
    t.equal(bad.code, 78, command);
    t.equal(bad.out, "");
    const lines = bad.err.trimEnd().split("\n");
    t.equal(lines.length, 6);
    t.match(lines[0], /^warning: .*bad\.yaml:1:1 authorization: allows nothing/);
    t.ok(lines.slice(1, -1).every((line) => line.startsWith(`${folder}/bad.yaml:`)));
    t.match(bad.err, /bad\.yaml:2:8 log\.levle: unknown setting, did you mean level\?/);
    t.match(lines.at(-1), /^sealgate: 4 problems in the configuration$/);
    t.notMatch(bad.err, /hunter2/);
    noStack(t, bad);

    const broken = await sealgate(command, "--config", join(folder, "broken.yaml"));
    t.equal(broken.code, 78);
    noStack(t, broken);

    const missing = await sealgate(command, "--config", join(folder, "none.yaml"));
    t.same(missing, { code: 66, out: "", err: `sealgate: cannot read ${folder}/none.yaml: no such file\n` });
    t.equal((await sealgate(command, "--config", folder)).code, 66);
  }
});

t.test("check --without-files and --strict; rules reads no secret either", async (t) => {
  const refer = `keys: { primary: a, folder: none }
server: { tls: { cert: { file: none }, key: { file: none } }, publicUrl: "https://a.example" }
redis: { url: "rediss://r.example/0", password: { env: NOT_SET_ANYWHERE }, tls: { ca: { file: none } } }
audit: { sinks: [{ type: file, path: none/a.log }] }
authentication: { issuers: [{ issuer: "https://login.example", jwks: { file: none } }] }
`;
  const text = (mode: string) => `version: 1
${refer}authorization: { policies: [{ id: a, effect: allow }] }
redemption: { epoch: ${mode} }
routes: [{ path: /mcp, upstream: { url: "https://127.0.0.1:3001/mcp", tls: { ca: { file: none } }, credential: { bearer: { file: none } } } }]
`;
  const folder = t.testdir({
    "good.yaml": text('"on"'),
    "loose.yaml": text('"off"'),
    "bad.yaml": text("maybe"),
  });
  const check = (name: string, ...more: string[]) =>
    sealgate("check", "--config", join(folder, `${name}.yaml`), ...more);
  const [full, without, strict, loose, looseStrict, bad] = await Promise.all([
    check("good"),
    check("good", "--without-files"),
    check("good", "--without-files", "--strict"),
    check("loose", "--without-files"),
    check("loose", "--without-files", "--strict"),
    check("bad", "--without-files"),
  ]);
  t.match(full, { code: 78, err: /sealgate: 9 problems/ });
  t.same(without, { code: 0, out: `${folder}/good.yaml: ok\n`, err: "" });
  t.same(strict, without);
  t.match(loose, { code: 0, err: /^warning: .* redemption\.epoch: is off/ });
  t.match(looseStrict, {
    code: 78,
    out: "",
    err: /\nsealgate: 1 warning, which --strict takes for problems\n$/,
  });
  t.match(bad, { code: 78, err: /redemption\.epoch: .*\nsealgate: 1 problem in the configuration\n$/ });
  t.match(await sealgate("rules", "--config", join(folder, "good.yaml")), { code: 0, err: "" });
});

t.test("warnings are printed beside problems, and start no sentence of their own", async (t) => {
  const text = `version: 1
authentication: { mode: anonymous }
authorization: { policies: [{ id: a, effect: deny }, { id: b, effect: allow, methods: [tool/call] }] }
admin: { listen: "0.0.0.0:9090" }
routes: [{ path: /mcp/, upstream: { url: "http://127.0.0.1:3001/mcp" } }]
`;
  const folder = t.testdir({ "gate.yaml": text });
  const { code, out, err } = await sealgate("check", "--config", join(folder, "gate.yaml"));
  t.equal(code, 78);
  t.equal(out, "");
  const lines = err.trimEnd().split("\n");
  t.match(lines, [
    /^warning: .*gate\.yaml:1:1 keys: is absent/,
    /^warning: .*gate\.yaml:3:\d+ authorization\.policies\[0\]: denies everything/,
    /^warning: .*gate\.yaml:3:\d+ .*methods\[0\]: fits no method of MCP, did you mean tools\/call\?$/,
    /^warning: .*gate\.yaml:4:\d+ admin\.listen: /,
    /^\/.*gate\.yaml:5:\d+ routes\[0\]\.path: must not end with/,
    /^sealgate: 1 problem in the configuration$/,
  ]);
  t.equal(lines.length, 6);
});

t.test("schema prints the JSON Schema", async (t) => {
  const { code, out, err } = await sealgate("schema");
  t.equal(code, 0);
  t.equal(err, "");
  t.equal(
    (JSON.parse(out) as Record<string, unknown>)["$schema"],
    "https://json-schema.org/draft/2020-12/schema",
  );
});

t.test("keys new", async (t) => {
  const [one, two] = await Promise.all([sealgate("keys", "new"), sealgate("keys", "new")]);
  t.match(one, { code: 0, err: "" });
  t.match(one?.out, /^[A-Za-z0-9_-]{43}\n$/);
  t.equal(decodeSecret(Buffer.from(one?.out ?? "")).length, 32);
  t.not(one?.out, two?.out);

  const file = join(t.testdir({}), "key");
  const written = await sealgate("keys", "new", "--out", file);
  t.match(written, { code: 0, out: "" });
  const secret = readFileSync(file, "utf8");
  t.match(secret, /^[A-Za-z0-9_-]{43}\n$/);
  t.notOk(written.err.includes(secret.trim()));
  t.equal(statSync(file).mode & 0o777, 0o600);

  const again = await sealgate("keys", "new", "--out", file);
  t.match(again, { code: 73, out: "" });
  t.match(again.err, /^sealgate: cannot write .*: it exists already and is never overwritten\n$/);
  t.equal(readFileSync(file, "utf8"), secret, "left as it was");
  t.match(await sealgate("keys", "new", "--out", `${file}/x`), {
    code: 73,
    err: /its folder does not exist/,
  });
});

t.test("a Node that is too old is told so in one line, before anything else is loaded", async (t) => {
  const folder = t.testdir({
    "old.mjs": 'Object.defineProperty(process.versions, "node", { value: "20.20.2" });\n',
  });
  // What a build makes of main.ts, with nothing beside it: any import would fail.
  writeFileSync(join(folder, "main.mjs"), stripTypeScriptTypes(readFileSync(MAIN, "utf8")));
  const line =
    'sealgate needs Node 24 or newer, this is 20.20.2; in its own folder "npx node …" and the npm scripts use the one that npm ci brought (Linux)\n';
  t.same(await start(["--import", join(folder, "old.mjs"), join(folder, "main.mjs")]), {
    code: 1,
    out: "",
    err: line,
  });
  t.same(await start(["--import", join(folder, "old.mjs"), MAIN, "--version"]), {
    code: 1,
    out: "",
    err: line,
  });
});

t.test(
  "a reader that stops early is no failure",
  { skip: existsSync("/bin/sh") ? false : "needs sh" },
  async (t) => {
    const child = spawn("/bin/sh", ["-c", `"$0" "$1" schema 2>&1 >&3 3>&- | cat`, process.execPath, MAIN], {
      stdio: ["ignore", "pipe", "inherit", "pipe"],
    });
    child.stdio[3]?.destroy();
    let err = "";
    child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
      err += piece;
    });
    await new Promise((resolve) => child.on("close", resolve));
    t.notMatch(err, /EPIPE|at /);
  },
);
