/** A process whose files change all the time holds no more than one whose files never do. */
import { readdirSync, readFileSync } from "node:fs";
import { platform } from "node:os";
import t from "tap";
import { startEdited } from "../support/edited.ts";
import { exchange } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream.ts";
import { answers, DONE, TRANSFER } from "./rounds.ts";

const TURNS = 12;
const skip = platform() === "linux" ? false : "needs /proc";

/** Open files, and folders that are watched. */
function held(pid: number): { files: number; watched: number } {
  const descriptors = readdirSync(`/proc/${pid}/fd`);
  const watched = descriptors.flatMap((fd) => {
    try {
      return readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8").match(/^inotify wd:/gm) ?? [];
    } catch {
      return [];
    }
  });
  return { files: descriptors.length, watched: watched.length };
}

t.test("pools, sinks, watches and series of what is replaced go", { skip }, async (t) => {
  const [one, two] = [await startUpstream(answers(DONE)), await startUpstream(answers(DONE))];
  t.teardown(() => Promise.all([one.close(), two.close()]));
  const issuer = (n: number) => ({ issuer: `https://issuer-${n}.example`, audiences: ["a"] });
  const sections = (n: number) => ({
    routes: [
      { path: "/mcp", upstream: { url: (n % 2 === 0 ? one : two).url } },
      { path: `/extra-${n}`, upstream: { url: one.url } },
    ],
    authentication: { mode: "anonymous", issuers: [issuer(n)] },
    audit: { sinks: [{ type: "file", path: `audit-${n}.jsonl` }] },
    keys: { primary: "k", ring: [{ id: "k", secret: { file: `keys-${n % 2}/k` } }] },
  });
  const secret = "a secret of a test that is long enough";
  const gateway = await startEdited(t, sections(0), { "keys-0/k": secret, "keys-1/k": secret });
  const turn = async (n: number): Promise<void> => {
    await gateway.change(() => gateway.configure(sections(n)));
    const replies = ["/mcp", `/extra-${n}`].map((path) => gateway.send(TRANSFER, { path }));
    t.same(
      (await Promise.all(replies)).map(({ status }) => status),
      [200, 200],
    );
  };
  await turn(1);
  await turn(2);
  const before = held(gateway.pid);
  for (let n = 3; n < 3 + TURNS; n += 1) await turn(n);
  // An even and an odd turn hold the same; connections that are still closing have their time.
  await until(() => held(gateway.pid).files <= before.files + 2);
  t.equal(held(gateway.pid).watched, before.watched);
  const { body } = await exchange(gateway.adminUrl ?? "", { path: "/metrics", method: "GET" });
  const routes = new Set([...body.matchAll(/route="([^"]+)"/g)].map(([, route]) => route));
  t.same(routes, new Set(["/mcp", `/extra-${2 + TURNS}`]));
});

t.test("many signals and many writes end with the last text in force", async (t) => {
  const upstream = await startUpstream(answers(DONE));
  t.teardown(() => upstream.close());
  const routes = [{ path: "/mcp", upstream: { url: upstream.url } }];
  const gateway = await startEdited(t, { routes });
  const status = async (): Promise<number | undefined> => (await gateway.send(TRANSFER)).json.error?.code;
  for (let n = 0; n < 60; n += 1) {
    await gateway.configure({ authorization: { default: n % 2 === 0 ? "deny" : "allow" } });
    gateway.kill("SIGHUP");
  }
  await gateway.configure({ authorization: { default: "deny" } });
  await until(async () => (await status()) === -32602);
  await gateway.configure({ authorization: { default: "allow" } });
  await until(async () => (await status()) === undefined);
  t.equal(await gateway.metric("sealgate_reload_successful"), 1);
});
