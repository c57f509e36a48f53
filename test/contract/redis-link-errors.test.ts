/** A link can fail more than once: no second error of a socket may end the process. */
import type { Socket } from "node:net";
import t from "tap";
import { linkConnector } from "../../src/redis/connector.ts";
import { freePort } from "../support/redis.ts";

t.test("a socket that fails twice is only a lost link", async (t) => {
  for (const tls of [undefined, {}]) {
    const address = { host: "127.0.0.1", port: await freePort() };
    const connector = new (linkConnector(() => address, tls))({ disconnectTimeout: 10 });
    const stream: Socket = await connector.connect();
    await new Promise((resolve) => stream.once("close", resolve));
    t.match(connector.firstError, { code: "ECONNREFUSED" });
    stream.emit("error", new Error("an alert behind the first error"));
    t.match(connector.firstError, { code: "ECONNREFUSED" }, "the first one is the cause");
  }
});

t.test("given up before it began", async (t) => {
  const address = { host: "127.0.0.1", port: await freePort() };
  const connector = new (linkConnector(() => address, undefined))({});
  const connecting = connector.connect();
  connector.disconnect();
  await t.rejects(connecting, { message: /closed/ });
});

t.test("a server that cannot be found is a link that failed", async (t) => {
  const nowhere = () => Promise.reject(new Error("no Sentinel knows"));
  const connector = new (linkConnector(nowhere, undefined))({});
  const stream: Socket = await connector.connect();
  t.ok(stream.destroyed);
  t.match(connector.firstError, { message: "no Sentinel knows" });
});
