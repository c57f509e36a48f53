import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import t from "tap";
import { loadConfig } from "../../../src/config/load.ts";
import { load, SOUND } from "./load-text.ts";

const KEYS = (secret: string) => `${SOUND}keys: { primary: a, ring: [{ id: a, secret: ${secret} }] }\n`;
const CREDENTIAL = (text: string) => SOUND.replace('3001/mcp" }', `3001/mcp", credential: ${text} }`);
const JWKS = (file: string) =>
  SOUND.replace("login.example.com", `login.example.com\n      jwks: { file: ${file} }`);

t.test("what is wrong with a secret is said without the secret", async (t) => {
  const cases: [string, string, Record<string, string>, RegExp][] = [
    ["missing file", "{ file: nowhere }", {}, /the file does not exist/],
    ["empty file", "{ file: k }", { k: "" }, /the file is empty/],
    ["short", "{ file: k }", { k: "hunter2" }, /shorter than 32 bytes/],
    ["half a hexadecimal key", "{ file: k }", { k: "ab".repeat(20) }, /shorter than 32 bytes/],
    ["unset variable", "{ env: NONE }", {}, /the environment variable NONE is not set$/],
    ["empty variable", "{ env: EMPTY }", {}, /the environment variable EMPTY is empty$/],
    ["a long name", "{ env: SEALGATE_KEY_2026_08 }", {}, /variable SEALGATE_KEY_2026_08 is not set$/],
    ["a name that may be a secret", "{ env: hunter2 }", {}, /the environment variable is not set$/],
    ["another", "{ env: hT7kQ2vX9mZ4pL8wB3nR6sY1dF5gJ0cA }", {}, /the environment variable is not set$/],
    [
      "one in capitals",
      "{ env: A3F09C7E5B2D4A3F09C7E5B2D4A3F09C }",
      {},
      /the environment variable is not set$/,
    ],
    ["and one with lines", "{ env: SK_LIVE_51H8S0MEHINGS }", {}, /the environment variable is not set$/],
    ["short variable", "{ env: SHORT }", {}, /shorter than 32 bytes/],
    ["a folder", "{ file: . }", {}, /not a regular file|cannot be read/],
  ];
  for (const [name, secret, files, message] of cases) {
    const { problems } = await load(t, KEYS(secret), files, { EMPTY: "", SHORT: "hunter2" });
    t.equal(problems.length, 1, name);
    t.match(problems[0], message, name);
    t.match(problems[0], /^10:\d+ keys\.ring\[0\]\.secret\.(file|env): /);
    t.notMatch(problems[0], /hunter2|abab|nowhere|SHORT:|hT7k|A3F0|51H8/);
  }
});

t.test("a pipe is refused and does not block", async (t) => {
  const folder = t.testdir({ "gate.yaml": KEYS("{ file: pipe }") });
  execFileSync("mkfifo", [join(folder, "pipe")]);
  await t.rejects(loadConfig(join(folder, "gate.yaml"), {}), /is not a regular file/);
});

t.test("secrets are read relative to the file, decoded, and told when others may read them", async (t) => {
  const folder = t.testdir({
    "gate.yaml": KEYS("{ file: secrets/k }"),
    secrets: { k: `${"ab".repeat(32)}\n` },
  });
  chmodSync(join(folder, "secrets/k"), 0o644);
  const open = await loadConfig(join(folder, "gate.yaml"), {});
  t.equal(open.secrets.keys[0]?.secret.toString("hex"), "ab".repeat(32));
  t.same(open.config.keys?.ring?.[0]?.secret, { file: join(folder, "secrets/k") });
  t.match(open.warnings, [
    /^.*gate\.yaml:10:\d+ keys\.ring\[0\]\.secret\.file: the file is open to other users/,
  ]);
  chmodSync(join(folder, "secrets/k"), 0o600);
  t.same((await loadConfig(join(folder, "gate.yaml"), {})).warnings, []);
});

const skip = process.getuid?.() === 0 ? false : "needs root, to give files to others";
t.test("a file of root for a group of this process is not open; one of this user is", { skip }, async (t) => {
  const folder = t.testdir({
    "gate.yaml": KEYS("{ file: secrets/k }"),
    secrets: { k: `${"ab".repeat(32)}\n` },
  });
  const file = join(folder, "secrets/k");
  const group = process.getegid?.() ?? 0;
  const warned = async (uid: number, gid: number, mode: number): Promise<number> => {
    chownSync(file, uid, gid);
    chmodSync(file, mode);
    return (await loadConfig(join(folder, "gate.yaml"), {})).warnings.length;
  };
  t.equal(await warned(4711, group, 0o440), 0, "as mounted with fsGroup");
  t.equal(await warned(4711, group, 0o640), 0);
  t.equal(await warned(4711, group, 0o660), 1, "the group may write");
  t.equal(await warned(4711, group, 0o444), 1, "everybody may read");
  t.equal(await warned(4711, 4711, 0o440), 1, "a group this process is not in");
  t.equal(await warned(0, group, 0o440), 1, "its own: the owner's bit would do");
});

t.test("one secret under two labels is refused", async (t) => {
  const text = `${SOUND}keys: { primary: a, ring: [{ id: a, secret: { env: A } }, { id: b, secret: { env: B } }] }\n`;
  const A = "ab".repeat(32);
  t.match((await load(t, text, {}, { A, B: A.toUpperCase() })).problems, [
    /keys\.ring\[1\]\.secret: is the secret of another/,
  ]);
  t.same((await load(t, text, {}, { A, B: "cd".repeat(32) })).problems, []);
});

t.test("credentials of upstreams", async (t) => {
  const bearer = CREDENTIAL("{ bearer: { env: T } }");
  t.same((await load(t, bearer, {}, { T: "abc.def\n" })).loaded?.secrets.credentials.get("/mcp"), {
    header: "authorization",
    value: "Bearer abc.def",
  });
  const header = CREDENTIAL("{ header: { name: X-Api-Key, value: { file: k } } }");
  t.same((await load(t, header, { k: "a b\r\n" })).loaded?.secrets.credentials.get("/mcp"), {
    header: "x-api-key",
    value: "a b",
  });
  for (const T of ["Bearer abc", "a b", "a\nb", "a\r\nx-evil: 1", "é", "\n"]) {
    t.equal((await load(t, bearer, {}, { T })).problems.length, 1, JSON.stringify(T));
  }
});

t.test("key sets hold public keys only", async (t) => {
  const good = JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", x: "AA" }] });
  const { loaded } = await load(t, JWKS("k.json"), { "k.json": good });
  t.same([...(loaded?.secrets.jwksFiles.values() ?? [])], [JSON.parse(good)]);
  const jwks = loaded?.config.authentication.issuers[0]?.jwks;
  t.ok(
    jwks !== undefined && "file" in jwks && loaded?.secrets.jwksFiles.has(jwks.file),
    "found by the resolved path",
  );
  for (const [bad, message] of [
    ["{", /not JSON/],
    ["{}", /not a key set/],
    ['{"keys":[]}', /not a key set/],
    ['{"keys":[null]}', /without kty/],
    ['{"keys":[{"kty":"oct","k":"aGk"}]}', /private or symmetric/],
    ['{"keys":[{"kty":"OKP","d":"aGk"}]}', /private or symmetric/],
  ] as const) {
    t.match((await load(t, JWKS("k.json"), { "k.json": bad })).problems, [message], bad);
  }
});

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

t.test("certificates and their keys", { skip: hasOpenssl ? false : "needs openssl" }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "sealgate-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const files: Record<string, string> = { "junk.crt": "junk", "junk.key": "junk" };
  for (const name of ["a", "b"]) {
    const out = ["-keyout", `${folder}/${name}.key`, "-out", `${folder}/${name}.crt`];
    execFileSync("openssl", ["req", "-x509", "-newkey", "ed25519", "-nodes", ...out, "-subj", "/CN=x"], {
      stdio: "ignore",
    });
    for (const file of [`${name}.key`, `${name}.crt`]) files[file] = readFileSync(join(folder, file), "utf8");
  }
  const tls = async (cert: string, key: string) =>
    load(
      t,
      `${SOUND}server: { publicUrl: "https://a.example", tls: { cert: { file: ${cert} }, key: { file: ${key} } } }\n`,
      files,
    );
  t.ok((await tls("a.crt", "a.key")).loaded?.secrets.tls);
  t.match((await tls("a.crt", "b.key")).problems, [/server\.tls\.key: is no PEM private key .* that fits/]);
  t.match((await tls("a.crt", "junk.key")).problems, [/server\.tls\.key: is no PEM private key/]);
  t.match((await tls("junk.crt", "a.key")).problems, [
    /server\.tls\.cert\.file: the file holds no PEM certificate/,
  ]);
});

t.test("the folder of an audit file must exist", async (t) => {
  const audit = (path: string) => `${SOUND}audit: { sinks: [{ type: file, path: ${path} }] }\n`;
  t.match((await load(t, audit("nowhere/a.ndjson"))).problems, [/audit\.sinks\[0\]\.path: the folder/]);
  const { loaded } = await load(t, audit("a.ndjson"));
  const sink = loaded?.config.audit.sinks[0];
  t.ok(sink?.type === "file" && isAbsolute(sink.path));
});
