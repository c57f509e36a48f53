/** A changed file changes what the process decides, a broken one changes nothing: seen from outside, as an operator does it. */
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { stringify } from "yaml";
import { BASE, NOT_TAKEN, startEdited, TAKEN_UP } from "../support/edited.ts";
import { exchange, type Message, mirrored, type Reply } from "../support/gateway.ts";
import { runProcess } from "../support/process.ts";
import { until } from "../support/until.ts";
import { result, type Script, startUpstream } from "../support/upstream.ts";
import { answers, DONE, TRANSFER, textOf } from "./rounds.ts";

const LIST: Message = { method: "tools/list" };
const tools = '{"resultType":"complete","tools":[{"name":"transfer"},{"name":"look"}]}';
const script: Script = (arrived, response) =>
  result(arrived, response, arrived.json?.method === "tools/list" ? tools : DONE);
const upstream = await startUpstream(script);
t.teardown(() => upstream.close());
const route = (path = "/mcp", url = upstream.url) => ({ path, upstream: { url }, legacy: "refuse" });
const deny = (tool: string) => ({
  authorization: { default: "allow", policies: [{ id: `no-${tool}`, effect: "deny", tools: [tool] }] },
});
const server = (changed: object) => ({ server: { ...(BASE["server"] as object), ...changed } });
const names = ({ json }: Reply): string[] => json.result.tools.map(({ name }: { name: string }) => name);
const reason = ({ json, status }: Reply): string => json?.error?.data?.reason ?? `status ${status}`;

t.test(
  "edit the file: the decision changes; break it: nothing changes; mend it: it is taken up",
  async (t) => {
    const gateway = await startEdited(t, { routes: [route()] });
    t.equal((await gateway.send(TRANSFER)).status, 200);
    t.same(names(await gateway.send(LIST)), ["transfer", "look"]);

    t.match(await gateway.change(() => gateway.configure(deny("transfer"))), {
      level: "info",
      sections: ["authorization"],
    });
    t.equal(reason(await gateway.send(TRANSFER)), "unknown_tool");
    t.same(names(await gateway.send(LIST)), ["look"]);
    t.equal(await gateway.metric("sealgate_reload_successful"), 1);

    const broken = `${stringify({ ...BASE, routes: [route()] })}capability:\n  allow: [mind-reading]\nlog:\n  level: loud\n`;
    const line = await gateway.change(() => gateway.put("sealgate.yaml", broken), NOT_TAKEN);
    t.match(line, { level: "error" });
    const problems = line["problems"] as string[];
    t.equal(problems.length, 2, "every problem");
    t.match(problems[0], /sealgate\.yaml:\d+:\d+ capability\.allow\[0\]: /);
    t.match(problems[1], /sealgate\.yaml:\d+:\d+ log\.level: /);
    t.equal(reason(await gateway.send(TRANSFER)), "unknown_tool", "the policy of before");
    t.equal(await gateway.metric("sealgate_reload_successful"), 0);

    await gateway.change(() => gateway.configure(deny("look")));
    t.equal((await gateway.send(TRANSFER)).status, 200);
    t.same(names(await gateway.send(LIST)), ["transfer"]);
    t.equal(await gateway.metric("sealgate_reload_successful"), 1);
  },
);

t.test("routes appear, change their server and vanish, with their metadata", async (t) => {
  const other = await startUpstream(answers('{"resultType":"complete","content":[],"other":true}'));
  t.teardown(() => other.close());
  const issuers = [{ issuer: "https://issuer.example", audiences: ["a"] }];
  const authentication = { mode: "required", issuers };
  const gateway = await startEdited(t, { routes: [route()] });
  const metadata = async (path: string): Promise<number> =>
    (
      await exchange(gateway.url, {
        method: "GET",
        path: `/.well-known/oauth-protected-resource${path}`,
        headers: { host: "127.0.0.1" },
      })
    ).status;
  const at = async (path: string): Promise<string> => {
    const reply = await gateway.send(TRANSFER, { path });
    return reply.status === 200 ? String(reply.json.result.other === true) : reason(reply);
  };
  t.same([await at("/mcp"), await at("/second")], ["false", "not_found"]);
  await gateway.change(() => gateway.configure({ routes: [route(), route("/second", other.url)] }));
  t.same([await at("/mcp"), await at("/second")], ["false", "true"]);
  await gateway.change(() => gateway.configure({ routes: [route("/mcp", other.url), route("/second")] }));
  t.same([await at("/mcp"), await at("/second")], ["true", "false"]);
  await gateway.change(() => gateway.configure({ routes: [route("/second")] }));
  t.same([await at("/mcp"), await at("/second")], ["not_found", "false"]);
  const { body } = await exchange(gateway.adminUrl ?? "", { path: "/metrics", method: "GET" });
  t.notMatch(body, 'route="/mcp"', "no series of what is not served");
  t.match(body, 'route="/second"');
  t.same([await metadata("/second"), await metadata("")], [404, 404], "nobody is asked for a token");

  const both = [route("/second"), route("/third")];
  await gateway.change(() => gateway.configure({ authentication, routes: both }));
  t.equal(reason(await gateway.send(TRANSFER, { path: "/second" })), "unauthorized");
  t.same([await metadata("/second"), await metadata("/third"), await metadata("")], [200, 200, 404]);
  await gateway.change(() => gateway.configure({ routes: [route("/third")] }));
  t.same([await metadata("/second"), await metadata("/third"), await metadata("")], [404, 200, 200]);
});

t.test("hosts, origins, the form of errors and the level of the log", async (t) => {
  const gateway = await startEdited(t, { routes: [route()] });
  const from = async (origin: string): Promise<number> =>
    (await gateway.send(TRANSFER, { headers: { origin } })).status;
  const to = async (host: string): Promise<number> =>
    (await gateway.send(TRANSFER, { headers: { host } })).status;
  t.same([await from("https://page.example"), await to("new.example")], [403, 421]);
  await gateway.change(() =>
    gateway.configure(
      server({ allowedOrigins: ["https://page.example"], allowedHosts: ["127.0.0.1", "new.example"] }),
    ),
  );
  t.same([await from("https://page.example"), await to("new.example")], [200, 200]);
  await gateway.change(() => gateway.configure(server({ allowedHosts: ["127.0.0.1"] })));
  t.same([await from("https://page.example"), await to("new.example")], [403, 421]);

  const unheard = { method: "tools/call", params: { name: "transfer", arguments: {}, requestState: "x" } };
  t.equal((await gateway.send(unheard)).status, 400);
  await gateway.change(() => gateway.configure({ errors: { httpStatus: "ok" } }));
  t.equal((await gateway.send(unheard)).status, 200);

  // Audit off, so that what still comes is the log.
  await gateway.change(() => gateway.configure({ log: { level: "error" }, audit: { sinks: [] } }));
  const before = gateway.lines.length;
  await gateway.send(unheard);
  await gateway.change(() => gateway.put("sealgate.yaml", "no configuration"), NOT_TAKEN);
  t.equal(gateway.lines.length, before + 1, "the warning about a refused request is below the level");
});

t.test("a setting that takes a restart: nothing of the file is taken up, and each is named", async (t) => {
  const gateway = await startEdited(t, { routes: [route()] });
  const line = await gateway.change(
    () =>
      gateway.configure({
        ...deny("transfer"),
        ...server({ listen: "127.0.0.1:1", shutdownGrace: "7s", limits: { body: "1MiB" } }),
        admin: { listen: "127.0.0.1:2" },
        redemption: { store: "memory", epoch: "off" },
      }),
    NOT_TAKEN,
  );
  t.match(
    (line["problems"] as string[]).map((text) => text.replace(/^.*sealgate\.yaml:\d+:\d+ /, "")),
    ["server.listen", "server.shutdownGrace", "server.limits.body", "admin.listen", "redemption"].map(
      (setting) => `${setting}: has changed, which takes a restart`,
    ),
  );
  t.ok((line["problems"] as string[]).every((text) => /sealgate\.yaml:\d+:\d+ /.test(text)));
  t.equal((await gateway.send(TRANSFER)).status, 200, "nor the policy beside them");
  t.equal(await gateway.metric("sealgate_reload_successful"), 0);
  const back = { ...BASE, routes: [route()], ...deny("transfer") };
  await gateway.change(() => gateway.put("sealgate.yaml", stringify(back)));
  t.equal(reason(await gateway.send(TRANSFER)), "unknown_tool");
});

t.test(
  "however the file is changed: written over, renamed, gone and back, by its folder, on SIGHUP",
  async (t) => {
    const gateway = await startEdited(t, { routes: [route()] });
    const text = (tool: string): string => stringify({ ...BASE, routes: [route()], ...deny(tool) });
    const hidden = async (): Promise<string> => names(await gateway.send(LIST)).join();
    const { file, folder } = gateway;
    await gateway.change(() => writeFileSync(file, text("look")));
    t.equal(await hidden(), "transfer", "written over");
    await gateway.change(() => {
      renameSync(file, `${file}~`);
      writeFileSync(file, text("transfer"));
      unlinkSync(`${file}~`);
    });
    t.equal(await hidden(), "look", "as editors do it");
    await gateway.change(() => unlinkSync(file), NOT_TAKEN);
    t.equal(await hidden(), "look", "gone");
    await gateway.change(() => writeFileSync(file, text("look")));
    t.equal(await hidden(), "transfer", "and back");
    await gateway.change(() => {
      renameSync(folder, `${folder}.old`);
      mkdirSync(folder);
      writeFileSync(file, text("transfer"));
    });
    t.teardown(() => rmSync(`${folder}.old`, { recursive: true, force: true }));
    t.equal(await hidden(), "look", "another folder in the place of the first");
    await gateway.change(() => writeFileSync(file, text("look")));
    t.equal(await hidden(), "transfer", "which is watched too");
  },
);

t.test("a mounted ConfigMap: the link ..data is swapped; a link to elsewhere takes a SIGHUP", async (t) => {
  const folder = t.testdir({ mount: {}, elsewhere: {} });
  const text = (tool: string): string => stringify({ ...BASE, routes: [route()], ...deny(tool) });
  const swap = (version: string, tool: string): void => {
    mkdirSync(join(folder, "mount", version));
    writeFileSync(join(folder, "mount", version, "sealgate.yaml"), text(tool));
    symlinkSync(version, join(folder, "mount/..data_tmp"));
    renameSync(join(folder, "mount/..data_tmp"), join(folder, "mount/..data"));
  };
  const told = (gateway: { lines: readonly object[] }, count: number): Promise<void> =>
    until(() => gateway.lines.filter((line) => "msg" in line && line.msg === TAKEN_UP).length >= count);
  const hidden = async (url: string): Promise<boolean> =>
    !names(await exchange(url, { headers: mirrored(LIST), body: textOf("1", LIST) })).includes("transfer");
  swap("..1", "look");
  symlinkSync("..data/sealgate.yaml", join(folder, "mount/sealgate.yaml"));
  const mounted = await runProcess(t, join(folder, "mount/sealgate.yaml"));
  t.equal(await hidden(mounted.url), false);
  swap("..2", "transfer");
  await told(mounted, 1);
  t.equal(await hidden(mounted.url), true);

  writeFileSync(join(folder, "elsewhere/real.yaml"), text("look"));
  symlinkSync("elsewhere/real.yaml", join(folder, "link.yaml"));
  const linked = await runProcess(t, join(folder, "link.yaml"));
  writeFileSync(join(folder, "elsewhere/real.yaml"), text("transfer"));
  for (let more = 0; more < 20; more += 1) linked.kill("SIGHUP");
  await told(linked, 1);
  t.equal(await hidden(linked.url), true);
});
