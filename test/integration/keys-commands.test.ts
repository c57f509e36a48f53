/** `keys list`, `keys rotate` and `inspect` as operators start them: what they print, change and leave alone. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import type { Claims } from "../../src/envelope/format.ts";
import { seal } from "../../src/envelope/seal.ts";
import { decodeSecret } from "../../src/key-secret.ts";
import { loadKeyring } from "../../src/keyring.ts";
import { type Outcome, openCommands } from "../support/commands.ts";
import { claimsWith } from "../unit/envelope/sample.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const secret = (name: string): string => `a secret of a test, ${name}, and long enough`;
const sourceOf = (id: string) => ({ id, secret: decodeSecret(Buffer.from(secret(id))) });

const env = { ...process.env, SG_KEY: secret("env") };
const sealgate = openCommands(t, { env });

/** The same in a process of its own. */
function spawned(args: readonly string[], input = ""): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], { env });
    const [out, err]: Buffer[][] = [[], []];
    child.stdout.on("data", (piece: Buffer) => out?.push(piece));
    child.stderr.on("data", (piece: Buffer) => err?.push(piece));
    child.stdin.on("error", () => undefined).end(input);
    child
      .on("error", reject)
      .on("close", (code) =>
        resolve({ code, out: Buffer.concat(out ?? []).toString(), err: Buffer.concat(err ?? []).toString() }),
      );
  });
}

const REST = `authentication: { mode: anonymous }
authorization: { policies: [{ id: all, effect: allow }] }
routes: [{ path: /mcp, upstream: { url: "http://127.0.0.1:9000/mcp" } }]
envelope: { audience: "https://gateway.example" }
`;
const RING = `version: 1
keys:
  primary: a # now
  ring:
    - { id: a, secret: { file: secrets/key-a } } # the first
${REST}`;

/** A folder with a configuration, its secrets `a` and `b`, and nothing younger than a day. */
function folderWith(
  t: Test,
  config: string,
  secrets: readonly string[] = ["a"],
): { folder: string; file: string } {
  const files = Object.fromEntries(secrets.map((id) => [`key-${id}`, secret(id)]));
  const folder = t.testdir({ "gate.yaml": config, secrets: files });
  const file = join(folder, "gate.yaml");
  age(file);
  for (const id of secrets) chmodSync(join(folder, `secrets/key-${id}`), 0o600);
  return { folder, file };
}

/** As if it had been written a day ago. */
function age(file: string): void {
  const then = Date.now() / 1000 - 86_400;
  utimesSync(file, then, then);
}

const noSecret = (t: Test, { out, err }: Outcome): void => {
  t.notMatch(out + err, /a secret of a test/);
  t.notMatch(out + err, /^\s+at .*:\d+/m, "no stack");
};

t.test("list: ids, key ids, roles and places, and no secret", async (t) => {
  const keys = `version: 1
keys: { primary: a, next: { id: env, notBefore: "2090-01-01T00:00:00Z" }, ring: [{ id: a, secret: { file: secrets/key-a } }, { id: b, secret: { file: secrets/key-b } }, { id: env, secret: { env: SG_KEY } }] }
${REST}`;
  const { file, folder } = folderWith(t, keys, ["a", "b"]);
  const outcome = await sealgate(["keys", "list", "--config", file]);
  t.match(outcome, { code: 0, err: "" });
  const ring = loadKeyring(["a", "b", "env"].map(sourceOf), "a").labels(0);
  const [head, ...rows] = outcome.out
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));
  t.same(head, ["id", "key id", "role", "secret"]);
  t.same(rows, [
    ["a", ring[0]?.keyId, "seals", join(folder, "secrets/key-a")],
    ["b", ring[1]?.keyId, "opens", join(folder, "secrets/key-b")],
    ["env", ring[2]?.keyId, "opens, seals from 2090-01-01T00:00:00.000Z", "$SG_KEY"],
  ]);
  noSecret(t, outcome);
  const none = folderWith(t, `version: 1\n${REST}`);
  t.match(await sealgate(["keys", "list", "--config", none.file]), {
    code: 0,
    out: "",
    err: /no keys section/,
  });
});

t.test("rotate without a step changes nothing and says what there is to do", async (t) => {
  const { file, folder } = folderWith(t, RING);
  t.match(await sealgate(["keys", "rotate", "--config", file]), {
    code: 0,
    out: /One key\. To begin a rotation: --step add/,
  });
  t.equal(readFileSync(file, "utf8"), RING);
  t.same(readdirSync(folder).sort(), ["gate.yaml", "secrets"]);
});

t.test("rotate: three steps, each with a backup, comments and modes kept", async (t) => {
  const { file, folder } = folderWith(t, RING);
  chmodSync(file, 0o640);
  const rotate = async (...args: string[]): Promise<string> => {
    const before = readFileSync(file, "utf8");
    const outcome = await sealgate(["keys", "rotate", "--config", file, ...args]);
    t.equal(outcome.code, 0, outcome.err);
    noSecret(t, outcome);
    t.equal(readFileSync(`${file}.bak`, "utf8"), before);
    t.equal(statSync(file).mode & 0o777, 0o640);
    return readFileSync(file, "utf8");
  };
  const entry = '    - { id: "b", secret: { file: "secrets/key-b" } }\n';
  t.equal(await rotate("--step", "add", "--id", "b"), RING.replace("# the first\n", `# the first\n${entry}`));
  const made = join(folder, "secrets/key-b");
  t.equal(statSync(made).mode & 0o777, 0o600);
  t.equal(decodeSecret(readFileSync(made)).length, 32);
  t.match(await rotate("--step", "promote"), 'primary: "b" # now');
  t.match(await sealgate(["keys", "rotate", "--config", file, "--step", "remove"]), {
    code: 75,
    out: "",
    err: /changed less than envelope\.ttl \(10m\) ago: rounds that a sealed may be open; again in \d+ s\n$/,
  });
  age(file);
  t.notMatch(await rotate("--step", "remove"), "key-a");
  t.ok(existsSync(join(folder, "secrets/key-a")), "the operator deletes it");
  t.same(readdirSync(folder).sort(), ["gate.yaml", "gate.yaml.bak", "secrets"], "no drafts left");
  t.same(readdirSync(join(folder, "secrets")).sort(), ["key-a", "key-b"]);
});

t.test("rotate names a new key by the day, and a second one too", async (t) => {
  const { file, folder } = folderWith(t, RING);
  for (let time = 0; time < 2; time++) await sealgate(["keys", "rotate", "--config", file, "--step", "add"]);
  const ids = [...readFileSync(file, "utf8").matchAll(/id: "?([\w-]+)/g)].map(([, id]) => id);
  t.match(ids.slice(0, 2), ["a", /^key-\d{4}-\d\d-\d\d$/]);
  t.equal(ids[2], `${ids[1]}-2`);
  t.same(readdirSync(join(folder, "secrets")).sort(), [ids[1], ids[2], "key-a"], "no key-key-");
});

t.test(
  "rotate in a folder of keys: files come and go, only the primary stands in the configuration",
  async (t) => {
    const config = `version: 1\nkeys: { primary: key-a, folder: secrets }\n${REST}`;
    const { file, folder } = folderWith(t, config);
    const rotate = (...args: string[]) => sealgate(["keys", "rotate", "--config", file, ...args]);
    t.equal((await rotate("--step", "add", "--id", "b")).code, 0);
    t.equal(readFileSync(file, "utf8"), config);
    t.equal(statSync(join(folder, "secrets/b")).mode & 0o777, 0o600);
    t.equal((await rotate("--step", "promote")).code, 0);
    t.equal(readFileSync(file, "utf8"), config.replace("key-a", '"b"'));
    age(file);
    t.equal((await rotate("--step", "remove")).code, 0);
    t.same(readdirSync(join(folder, "secrets")).sort(), [".key-a.removed", "b"]);
    t.match(await sealgate(["keys", "list", "--config", file]), { out: /^b .*seals/m });
  },
);

t.test("rotate promotes the next key and takes keys.next out", async (t) => {
  const config = `version: 1
keys:
  primary: a
  next: { id: b, notBefore: "2090-01-01T00:00:00Z" }
  ring: [{ id: a, secret: { file: secrets/key-a } }, { id: b, secret: { file: secrets/key-b } }]
${REST}`;
  const { file } = folderWith(t, config, ["a", "b"]);
  const third = folderWith(
    t,
    config.replace("key-b } }]", "key-b } }, { id: c, secret: { file: secrets/key-c } }]"),
    ["a", "b", "c"],
  );
  t.match(await sealgate(["keys", "rotate", "--config", third.file, "--step", "promote", "--id", "c"]), {
    code: 78,
    err: /keys\.next names b; take it out/,
  });
  t.match(await sealgate(["keys", "rotate", "--config", third.file]), {
    code: 0,
    out: /\nb: if it is new and on all replicas, --step promote --id b\n {3}if it was replaced/,
  });
  folderWith(t, config, ["a", "b"]);
  t.match(await sealgate(["keys", "rotate", "--config", file, "--step", "remove", "--id", "b"]), {
    code: 64,
    err: /is keys\.next/,
  });
  t.equal((await sealgate(["keys", "rotate", "--config", file, "--step", "promote"])).code, 0);
  t.equal(
    readFileSync(file, "utf8"),
    config.replace("primary: a", 'primary: "b"').replace(/ {2}next: .*\n/, ""),
  );
});

t.test("rotate refuses, and changes nothing", async (t) => {
  const two = RING.replace(
    "# the first\n",
    "# the first\n    - { id: b, secret: { file: secrets/key-b } }\n",
  );
  const three = two.replace("key-b } }\n", "key-b } }\n    - { id: c, secret: { file: secrets/key-c } }\n");
  const CASES: [string, string, string[], number, RegExp][] = [
    ["no such step", RING, ["--step", "swap"], 64, /--step is none of add, promote, remove/],
    ["an id twice", RING, ["--step", "add", "--id", "a"], 64, /--id names a key of the ring, a/],
    ["no id", RING, ["--step", "add", "--id", "../a"], 64, /--id is no id of a key/],
    [
      "a file that is there",
      RING,
      ["--step", "add", "--id", "b"],
      73,
      /cannot write .*key-b: it exists already/,
    ],
    ["the only key", RING, ["--step", "promote"], 64, /the ring has one key only/],
    ["the primary again", two, ["--step", "promote", "--id", "a"], 64, /a is the primary already/],
    ["the primary away", two, ["--step", "remove", "--id", "a"], 64, /a is the primary, promote another/],
    ["a stranger", two, ["--step", "promote", "--id", "z"], 64, /names no key of the ring, which has a, b/],
    ["one of several", three, ["--step", "promote"], 64, /several other keys, name one by --id: b, c/],
    ["no keys section", `version: 1\n${REST}`, ["--step", "add"], 78, /there is no keys section/],
    ["a broken configuration", `${RING}log: 7\n`, ["--step", "add"], 78, /log: /],
    [
      "a primary in a variable",
      RING.replace("file: secrets/key-a", "env: SG_KEY"),
      ["--step", "add"],
      78,
      /is in a variable/,
    ],
  ];
  for (const [name, config, args, code, message] of CASES) {
    await t.test(name, async (t) => {
      const { file, folder } = folderWith(t, config, ["a", "b", "c"]);
      const outcome = await sealgate(["keys", "rotate", "--config", file, ...args]);
      t.equal(outcome.code, code, outcome.err);
      t.match(outcome.err, message);
      t.equal(outcome.out, "");
      noSecret(t, outcome);
      t.equal(readFileSync(file, "utf8"), config);
      t.same(readdirSync(folder).sort(), ["gate.yaml", "secrets"]);
      t.equal(readdirSync(join(folder, "secrets")).length, 3);
    });
  }
  const { file, folder } = folderWith(t, RING);
  symlinkSync("gate.yaml", join(folder, "link.yaml"));
  t.match(await sealgate(["keys", "rotate", "--config", join(folder, "link.yaml"), "--step", "add"]), {
    code: 78,
    err: /is a link/,
  });
  t.equal(readFileSync(file, "utf8"), RING);
  t.same(readdirSync(join(folder, "secrets")), ["key-a"], "the new secret is taken back");
  mkdirSync(`${file}.bak`);
  t.match(await sealgate(["keys", "rotate", "--config", file, "--step", "add"]), {
    code: 73,
    err: /cannot write .*gate\.yaml\.bak/,
  });
  t.equal(readFileSync(file, "utf8"), RING);
  t.same(readdirSync(folder).sort(), ["gate.yaml", "gate.yaml.bak", "link.yaml", "secrets"]);
  t.same(readdirSync(join(folder, "secrets")), ["key-a"]);
});

const NOW = Math.floor(Date.now() / 1000);
const AUDIENCE = "https://gateway.example";
const sealed = (changes: Partial<Claims>, by = "a", audience = AUDIENCE): string =>
  seal(
    loadKeyring([sourceOf(by)], by),
    audience,
    claimsWith({ iat: NOW, exp: NOW + 600, chainIat: NOW, ...changes }),
  );

t.test("inspect: the claims, the state only when asked for, and why it would be refused", async (t) => {
  const { file } = folderWith(t, RING);
  const inspect = (token: string, ...more: string[]) =>
    sealgate(["inspect", token, "--config", file, ...more]);
  const good = sealed({ state: "inner=4711" });
  const outcome = await inspect(good);
  t.equal(outcome.code, 0, outcome.err);
  const shown = JSON.parse(outcome.out);
  t.equal(shown.refused, null);
  t.same(
    shown.notLookedAt,
    ["the request that brings it", "single use", "revocation"],
    "and no more is said",
  );
  t.match(shown.key, { id: "a", keyId: /^[0-9a-f]{8}$/, seals: true });
  t.same(shown.state, { bytes: 10 });
  t.equal(shown.expiresAt, new Date((NOW + 600) * 1000).toISOString());
  t.match(shown.claims, { route: "/mcp", method: "tools/call", target: "transfer", round: 1 });
  t.notMatch(outcome.out, "inner=4711");
  t.same(JSON.parse((await inspect(good, "--state")).out).state, { bytes: 10, text: "inner=4711" });
  t.equal(JSON.parse((await inspect(sealed({}))).out).state, null);
  const piped = await spawned(["inspect", "-", "--config", file], `${good}\n`);
  t.same(JSON.parse(piped.out), shown, "from standard input");

  const last = good.endsWith("A") ? "B" : "A";
  const REFUSED: [string, string, string][] = [
    ["expired", sealed({ iat: NOW - 700, exp: NOW - 100 }), "expired"],
    ["from the future", sealed({ iat: NOW + 400, exp: NOW + 600 }), "not_yet"],
    ["another key", sealed({}, "b"), "unknown_key"],
    ["another audience", sealed({}, "a", "https://elsewhere.example"), "aead"],
    ["a route that is gone", sealed({ route: "/gone" }), "route"],
    ["a route that leads elsewhere", sealed({ upstream: "http://127.0.0.1:9001/mcp" }), "upstream"],
    ["a flipped character", `${good.slice(0, 60)}${good[60] === "A" ? "B" : "A"}${good.slice(61)}`, "aead"],
    ["padded", `${good}=`, "encoding"],
    ["another text", `eyJ${last}`, "prefix"],
    ["too long", `sg1.${"A".repeat(900_000)}`, "size"],
  ];
  const outcomes = await Promise.all(
    REFUSED.map(([, token]) => sealgate(["inspect", "-", "--config", file], token)),
  );
  for (const [index, [name, , cause]] of REFUSED.entries()) {
    const { code, out, err } = outcomes[index] ?? { code: null, out: "{}", err: "" };
    t.equal(code, 65, `${name}: ${err}`);
    const found = JSON.parse(out);
    t.equal(found.refused, cause, name);
    t.type(found.why, "string");
    const opens = ["expired", "not_yet", "route", "upstream"].includes(cause);
    t.equal(found.claims !== undefined, opens, "claims if it opens");
    if (cause === "unknown_key") t.match(found.key, { keyId: /^[0-9a-f]{8}$/ });
  }
});

t.test("inspect without keys, token or file", async (t) => {
  const none = folderWith(t, `version: 1\n${REST}`);
  t.match(await sealgate(["inspect", "sg1.x", "--config", none.file]), {
    code: 78,
    out: "",
    err: /there is no keys section/,
  });
  t.match(await sealgate(["inspect", "--config", none.file]), { code: 64, out: "", err: /TOKEN is missing/ });
  t.match(await sealgate(["inspect", "a", "b", "--config", none.file]), {
    code: 64,
    err: /more than one TOKEN/,
  });
  t.match(await sealgate(["inspect", "a", "--config", "nowhere.yaml"]), { code: 66, out: "" });
});

t.test("rotate: of edits at once none is lost without a word", async (t) => {
  const { folder, file } = folderWith(t, RING);
  writeFileSync(`${file}.lock`, "");
  const add = (id: string) => spawned(["keys", "rotate", "--config", file, "--step", "add", "--id", id]);
  const refused = await add("k0");
  t.not(refused.code, 0);
  t.match(refused.err, /gate\.yaml\.lock: is there/);
  t.same(readdirSync(join(folder, "secrets")), ["key-a"], "and no secret is left behind");
  unlinkSync(`${file}.lock`);
  const ids = ["k1", "k2"];
  const outcomes = await Promise.all(ids.map(add));
  const added = ids.filter((_, index) => outcomes[index]?.code === 0);
  t.ok(added.length > 0);
  const text = readFileSync(file, "utf8");
  for (const id of ids) t.equal(text.includes(`key-${id}`), added.includes(id), id);
  t.notOk(existsSync(`${file}.lock`));
});
