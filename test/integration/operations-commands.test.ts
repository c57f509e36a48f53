/** The commands of docs/operations.md, run as they stand there, in its order, on a Redis and beside a gateway that sees what they do. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { generateSecret } from "../../src/key-secret.ts";
import { openCommands } from "../support/commands.ts";
import { fences, page, section } from "../support/markdown.ts";
import { runProcess } from "../support/process.ts";
import { ownRedis } from "../support/redis.ts";
import { startUpstream } from "../support/upstream.ts";
import { asksOnce } from "./rounds.ts";

const PAGE = page("docs/operations.md");
/** Sections whose commands run here. */
const RUN = [
  "Around the gateway",
  "Rotation",
  "A key has leaked",
  "A token or a laptop is lost",
  "Redis is lost",
  "A server is compromised",
  "One call is suspicious",
  "Grants and denials",
  "Upgrades",
];
/** What builds and starts the program is run by `npm run test:image`, from the same lines of the Dockerfile. */
const ELSEWHERE = ["Running it"];

/** One ring for all: what is set at run time is signed with it. */
const KEY = generateSecret();
const redis = await ownRedis(t);
const upstream = await startUpstream(asksOnce);
t.teardown(() => upstream.close());

function folderOf(t: Test): string {
  const config = `version: 1
server: { listen: "127.0.0.1:0", publicUrl: "https://mcp.example.com" }
redis: { url: "${redis.url}" }
authentication: { issuers: [{ issuer: https://login.example.com }] }
authorization: { policies: [{ id: all, effect: allow }] }
keys:
  primary: key-1
  ring:
    - { id: key-1, secret: { file: keys/key-1 } }
routes:
  - path: /mcp
    upstream: { url: "${upstream.url}" }
`;
  const folder = t.testdir({ "sealgate.yaml": config, keys: { "key-1": KEY } });
  chmodSync(join(folder, "keys/key-1"), 0o600);
  return folder;
}

/** The words of a command line as a shell reads it; comments end it. */
function words(line: string): string[] {
  const bare = line.replace(/\s#.*$/, "");
  return [...bare.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, one, two, three]) => one ?? two ?? three ?? "",
  );
}

const linesOf = (heading: string): string[] => {
  // Of the section itself, not of those below it.
  const [own = ""] = section(PAGE, heading).text.split(/^##+ /m);
  return fences({ path: "", text: own })
    .filter(({ language }) => language === "sh")
    .flatMap(({ body }) =>
      body
        .replaceAll(/\\\n\s*/g, " ")
        .trimEnd()
        .split("\n"),
    );
};

/** What commands say, by their line; anything but 0 has to be expected. */
const EXPECTED: Readonly<Record<string, number>> = {
  "keys rotate --config sealgate.yaml --step remove": 75,
  [`reach --upstream ${upstream.url}`]: 1,
};

for (const heading of RUN) {
  t.test(heading, async (t) => {
    const folder = folderOf(t);
    const run = openCommands(t, { cwd: folder });
    const lines = linesOf(heading);
    t.ok(lines.length > 0);
    for (const line of lines) {
      if (line.startsWith("# in sealgate.yaml: keys.primary is key-2")) {
        const file = join(folder, "sealgate.yaml");
        writeFileSync(file, readFileSync(file, "utf8").replaceAll("key-1", "key-2"));
        continue;
      }
      const [program, ...args] = words(line.replace("http://172.20.0.5:3000/mcp", upstream.url));
      t.equal(program, "sealgate", line);
      const { code, out, err } = await run(args);
      t.equal(code, EXPECTED[args.join(" ")] ?? 0, `${line}\n${out}${err}`);
      if (args.includes("keys") && args.includes("list")) {
        t.match(out, "key-2");
        t.notMatch(out, "key-1", "the leaked one is gone");
      }
    }
  });
}

t.test("what was revoked and denied is in the lists, and a gateway starts on it", async (t) => {
  const folder = folderOf(t);
  const run = openCommands(t, { cwd: folder });
  const revoked = (await run(["revoke", "--config", "sealgate.yaml", "--list"])).out;
  for (const part of ["u-1001", "laptop stolen", "/mcp", "server compromised", "q0YkP1hZ9mX2c7bTnR4v8A"])
    t.match(revoked, part);
  const granted = (await run(["grants", "list", "--config", "sealgate.yaml"])).out;
  for (const part of ["support", "elicitation.url", "pay_*"]) t.match(granted, part);
  t.ok((await runProcess(t, join(folder, "sealgate.yaml"))).url);
});

t.test("no commands stand elsewhere on the page", async (t) => {
  const all = fences(PAGE).filter(({ language }) => language === "sh");
  const known = [...RUN, ...ELSEWHERE].flatMap(linesOf);
  t.same(
    all
      .flatMap(({ body }) =>
        body
          .replaceAll(/\\\n\s*/g, " ")
          .trimEnd()
          .split("\n"),
      )
      .filter((line) => !known.includes(line)),
    [],
  );
  t.match(page("docs/containers.md").text, "need an engine");
});
