/** A secret that lands anywhere in the file, by mistake, is never printed. */
import t from "tap";
import { stringify } from "yaml";
import { allSettings, printPath, type Step } from "../../../src/config/json-schema.ts";
import { load } from "./load-text.ts";

const SECRETS = [
  "hT7kQ2vX9mZ4pL8wB3nR6sY1dF5gJ0cA",
  "sk_live_51H8s0mEthInGsEcReT000000",
  "eyJhbGciOiJIUzI1NiJ9.e30.c2VjcmV0",
  "-----BEGIN PRIVATE KEY-----",
  "https://user:pa55word@a.example/x",
  "redis://:pa55word@127.0.0.1:6379/0",
  "https://a.example/mcp?api_key=pa55word",
];
const PARTS = [...SECRETS, "pa55word", "sk_live", "eyJh", "BEGIN PRIVATE"];

function nest(path: readonly Step[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  return typeof step === "number" ? [nest(rest, value)] : { [step]: nest(rest, value) };
}

for (const secret of SECRETS) {
  t.test(`${secret.slice(0, 8)}… as the value of each setting, and as a name`, async (t) => {
    for (const path of [...allSettings(), ["server", secret], [secret]]) {
      const { problems, warnings } = await load(t, stringify(nest(path, secret)));
      t.ok(problems.length > 0);
      const printed = [...problems, ...warnings].join("\n");
      const shown = PARTS.filter((part) => printed.includes(part));
      if (shown.length > 0) t.fail(`${printPath(path)} printed`, { printed });
    }
  });
}

t.test("a short one under a secret's setting is not printed either", async (t) => {
  for (const path of [
    ["redis", "password"],
    ["redis", "password", "file"],
    ["redis", "password", "env"],
    ["keys", "ring", 0, "secret"],
    ["keys", "ring", 0, "id"],
    ["routes", 0, "upstream", "credential"],
    ["routes", 0, "upstream", "credential", "bearer"],
    ["routes", 0, "upstream", "credential", "header", "value", "env"],
    ["server", "tls", "key"],
  ]) {
    for (const value of ["hunter2", "hunter2 x", ["hunter2"], { hunter2: 1 }.hunter2]) {
      const { problems } = await load(t, stringify(nest(path, value)));
      t.notMatch(problems.join("\n"), /hunter2/, printPath(path));
    }
  }
});
