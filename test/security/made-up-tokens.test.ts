/** Opaque tokens that somebody made up: they cost nothing, and must keep out nobody who has one that was good a moment ago. */
import t, { type Test } from "tap";
import { PUBLIC_URL, startGateway } from "../support/gateway.ts";
import { startIntrospection } from "../support/introspection.ts";
import { result, startUpstream } from "../support/upstream.ts";
import { DONE, TRANSFER } from "./scene.ts";

process.env["SG_MADE_UP"] = "the-gateways-secret";

async function open(t: Test) {
  const server = await startIntrospection();
  t.teardown(() => server.close());
  const upstream = await startUpstream((arrived, response) => result(arrived, response, DONE));
  t.teardown(() => upstream.close());
  const gateway = await startGateway(upstream.url, {
    authentication: {
      introspection: [
        {
          issuer: "https://login.example",
          url: server.url,
          client: { basic: { id: "gateway", secret: { env: "SG_MADE_UP" } } },
        },
      ],
    },
  });
  t.teardown(() => gateway.close(0));
  server.tokens.set("good", { sub: "u-1", aud: `${PUBLIC_URL}/mcp` });
  const ask = (token: string) => gateway.call(TRANSFER, { token });
  t.equal((await ask("good")).status, 200);
  // What was remembered of it is over: it has to be asked about again.
  gateway.clock.now += 31_000;
  return { gateway, server, ask };
}

/** Resolves when the server has been asked so often. */
async function asked(server: { readonly calls: readonly unknown[] }, times: number): Promise<void> {
  while (server.calls.length < times) await new Promise(setImmediate);
}

t.test("all calls taken by made-up tokens: who was known is asked about all the same", async (t) => {
  const { server, ask } = await open(t);
  const gate = Promise.withResolvers<void>();
  server.gate = gate.promise;
  const before = server.calls.length;
  const flood = Array.from({ length: 100 }, (_, n) => ask(`made-up-${n}`));
  await asked(server, before + 64);
  const honest = ask("good");
  await asked(server, before + 65);
  gate.resolve();
  t.equal((await honest).status, 200);
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  t.equal(statuses.filter((status) => status === 503).length, 36, "no more than there are places for");
  t.equal(statuses.filter((status) => status === 401).length, 64);
});

t.test("made-up tokens that the endpoint fails at begin no rest for those who were known", async (t) => {
  const { gateway, server, ask } = await open(t);
  server.behaviour = "status-500";
  for (const token of ["odd-1", "odd-2", "odd-3"]) t.equal((await ask(token)).status, 503);
  server.behaviour = "ok";
  t.equal((await ask("odd-4")).status, 503);
  t.equal(gateway.audit.at(-1)?.cause, "introspection_resting");
  t.equal((await ask("good")).status, 200);
  // An endpoint that is down for all is left alone by all.
  server.behaviour = "status-500";
  gateway.clock.now += 31_000;
  for (let n = 0; n < 3; n++) t.equal((await ask("good")).status, 503);
  const before = server.calls.length;
  t.equal((await ask("good")).status, 503);
  t.equal(gateway.audit.at(-1)?.cause, "introspection_resting");
  t.equal(server.calls.length, before);
});

t.test("who was good once and is no more is a stranger again", async (t) => {
  const { gateway, server, ask } = await open(t);
  server.tokens.delete("good");
  t.equal((await ask("good")).status, 401, "revoked");
  gateway.clock.now += 11_000;
  server.behaviour = "status-500";
  for (const token of ["odd-1", "odd-2", "odd-3"]) await ask(token);
  server.behaviour = "ok";
  t.equal((await ask("good")).status, 503);
  t.equal(gateway.audit.at(-1)?.cause, "introspection_resting");
});
