/** The demo's image: every part of it runs as docker-compose.yml runs it. */
import t from "tap";
import { readCompose } from "../support/compose.ts";
import { freePort } from "../support/redis.ts";
import { openBuilder } from "./builder.ts";
import { startContainer } from "./container.ts";
import { CANARY, plantedContext } from "./context.ts";
import { filesIn, leaksIn } from "./leaks.ts";

const IMAGE = "localhost/sealgate-demo";

const builder = await openBuilder(t);
const context = await plantedContext(t);
await builder.build({ context, target: "build", tag: "localhost/sealgate-build" });
await builder.build({ context, target: "demo-files", tag: "localhost/sealgate-demo-files" });
await builder.build({ context, target: "demo", tag: IMAGE });
const { config } = await builder.config(IMAGE);
const layers = await builder.layers(IMAGE);

t.test("what is in it: the demo and the SDK, no tools, no secrets", async (t) => {
  const files = await filesIn(layers);
  const has = (pattern: RegExp): string[] => files.filter((path) => pattern.test(path)).slice(0, 5);
  t.ok(
    files.includes("app/demo/part.ts") &&
      files.includes("app/node_modules/@modelcontextprotocol/client/package.json"),
  );
  t.same(
    has(
      /node_modules\/(typescript|tap|@tapjs|@biomejs|fast-check|kubernetes-models|oidc-provider|node-linux-)/,
    ),
    [],
  );
  t.same(has(/^app\/(test|scripts|dist|docs)\//), []);
  t.same(await leaksIn(layers, [CANARY]), []);
  t.equal(config.User, "1000:1000");
});

t.test("server and issuer run, are found healthy by their checks, and end on SIGTERM", async (t) => {
  const { services } = readCompose();
  for (const name of ["server", "issuer"]) {
    const port = await freePort();
    const placed = (words: readonly string[]): string[] =>
      words.map((word) => word.replace(/^(http:\/\/)?(127\.0\.0\.1|0\.0\.0\.0):\d+/, `$1127.0.0.1:${port}`));
    const { command = [], healthcheck } = services[name] ?? {};
    const container = await startContainer(t, await builder.mount(IMAGE), config, { args: placed(command) });
    await container.line("is listening");
    t.match(await container.exec(placed((healthcheck?.test ?? []).slice(1))), { code: 0, err: "" }, name);
    const elsewhere = ["node", "/app/demo/part.ts", "probe", `http://127.0.0.1:${await freePort()}/`];
    t.equal((await container.exec(elsewhere)).code, 1, "and not where nobody is");
    container.kill("SIGTERM");
    t.equal(await container.ended, 0, name);
  }
});

t.test("a client that finds nobody fails", async (t) => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const args = ["client", `--url=${nobody}/mcp`, `--resource=${nobody}/mcp`, `--issuer=${nobody}`];
  const container = await startContainer(t, await builder.mount(IMAGE), config, { args });
  t.equal(await container.ended, 1);
  t.match(container.out(), /of 8 did not\.\n$/);
});
