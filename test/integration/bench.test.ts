/** That the benchmark works, and what its figures mean; never how large they are. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import t from "tap";
import { minus, openLoop, paired, times } from "../../bench/load.ts";
import { type Results, read, tableOf } from "../../bench/record.ts";
import { placed } from "../../bench/results-page.ts";

const PARTS = ["gateway", "latency", "scale", "streams"];
const PAGE = readFileSync(new URL("../../bench/results.md", import.meta.url), "utf8");

/** Runs `npm run bench -- ARGS`; it is ended at teardown, with all that it started. */
async function bench(
  t: { teardown(run: () => unknown): void },
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, ["bench/main.ts", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const stop = (): boolean => child.kill("SIGTERM");
  process.once("exit", stop);
  t.teardown(stop);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  process.off("exit", stop);
  return { code, output };
}

t.test("the short form takes each case to the gateway, to a plain proxy and to none", async (t) => {
  const { code, output } = await bench(t, ["gateway", "--quick"]);
  t.equal(code, 0, output);
  const rows = output.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const proxiesOf = (name: string): string[] =>
    rows.flatMap(([, first, proxy = ""]) => (first === name ? [proxy] : []));
  const cases = ["call", "first round, sealed", "stream of 10 events", "result of 64 KB", "result of 1 MB"];
  for (const name of [...cases, "retry, opened and redeemed"])
    for (const proxy of ["sealgate, memory", "@fastify/http-proxy", "no proxy"])
      t.ok(proxiesOf(name).includes(proxy), `${name}, ${proxy}`);
  t.ok(proxiesOf("retry, opened and redeemed").includes("sealgate, Redis"));
  for (const proxy of ["nginx", "haproxy"])
    t.ok(proxiesOf("call").includes(proxy) || output.includes(`${proxy} is not installed and is left out`));
});

t.test("figures of a short form are not kept, and no part is guessed", async (t) => {
  for (const args of [["gateway", "--quick", "--write"], ["gatewayy"], ["envelope", "--write"], ["--slow"]]) {
    const { code, output } = await bench(t, args);
    t.equal(code, 64, args.join(" "));
    t.match(output, /^usage: /m);
  }
});

t.test("a request that could not be sent when it was due shows how long it waited", async (t) => {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  let sent = 0;
  const latencies = await openLoop(
    async () => {
      // All that are due in this time wait for it.
      if (sent++ === 0) Atomics.wait(nothing, 0, 0, 60);
    },
    1_000,
    100,
  );
  t.equal(sent, 100);
  t.equal(latencies.length, 100);
  t.ok(latencies.filter((latency) => latency > 20).length >= 30);
});

t.test("pairs are compared one by one", async (t) => {
  t.same(paired([2, 30, 8], [1, 10, 2], times), { median: 3, least: 2, most: 4 });
  t.same(paired([2, 30, 8], [1, 10, 2], minus), { median: 6, least: 1, most: 20 });
});

t.test("results go into the place of their part, and the rest of the page stays", async (t) => {
  const results: Results = {
    ...{ command: "npm run bench -- gateway --write", date: "2026-01-02", seconds: 9, commit: "abc" },
    machine: { processor: "P", cores: 2, system: "Linux 1", pinned: true, program: "dist/main.js" },
    versions: { Node: "24.1.0" },
    rows: [{ case: "call", times: { median: 1.2345, least: 1, most: 2 } }],
  };
  const once = placed(PAGE, "gateway", results);
  t.match(once, tableOf(results.rows));
  t.match(once, "1.23 (1 to 2)");
  const headings = (page: string): string[] => page.split("\n").filter((line) => line.startsWith("#"));
  t.same(headings(once), headings(PAGE));
  t.equal(placed(once, "gateway", results), once);
  t.throws(() => placed(PAGE, "nothing", results), /no place|has no/);
});

t.test("the page says what the files of results say", async (t) => {
  for (const part of PARTS) {
    if (existsSync(new URL(`../../bench/results/${part}.json`, import.meta.url)))
      t.equal(placed(PAGE, part, read(part)), PAGE, part);
    else t.match(PAGE, `<!-- ${part}: written by npm run bench -->`);
  }
});
