/** C03: one confirmation is used more than once, on one replica or on several at the same moment. */
import t from "tap";
import {
  type CallOptions,
  PUBLIC_URL,
  type Reply,
  startGateway,
  type TestGateway,
} from "../support/gateway.ts";
import { ownRedis } from "../support/redis.ts";
import { passes, refuses, type Scene, setScene, TRANSFER, YES } from "./scene.ts";

process.env["SG_TEST_KEY"] = "an operator's secret of more than 32 bytes";
const redis = await ownRedis(t);
const shared = {
  redis: { url: redis.url },
  redemption: { store: "redis" },
  keys: { primary: "k1", ring: [{ id: "k1", secret: { env: "SG_TEST_KEY" } }] },
};
let sections: Record<string, unknown> = {};
const scene = await setScene(t, {
  users: true,
  sections: (_url, { issuer, jwksUrl }) => {
    sections = { ...shared, authentication: { issuers: [{ issuer, jwks: { url: jwksUrl } }] } };
    return sections;
  },
});
const second = await startGateway(scene.upstreamUrl, sections);
t.teardown(() => second.close(0));
await Promise.all([scene.gateway, second].map(storeIsRead));

/** A gateway promises no state before it has read the store's epoch. */
async function storeIsRead(gateway: TestGateway): Promise<void> {
  const token = await scene.issuer.token({ aud: `${PUBLIC_URL}/mcp` });
  for (let tries = 0; tries < 2_000; tries++) {
    if ((await gateway.call(TRANSFER, { token })).status === 200) return;
  }
  throw new Error("the store was not read");
}

function retryOn(
  gateway: TestGateway,
  state: string,
  id: string | number,
  options: CallOptions,
): Promise<Reply> {
  const params = { ...TRANSFER.params, requestState: state, inputResponses: YES };
  return gateway.call({ ...TRANSFER, id, params }, options);
}

const fresh = (scene: Scene): Promise<string> => scene.ask();

t.test("the same retry again, here and on the other replica", async (t) => {
  const state = await fresh(scene);
  const token = scene.owner;
  await passes(t, scene, () => retryOn(scene.gateway, state, "a", { token }));
  for (const [gateway, id] of [
    [scene.gateway, "a"],
    [second, "a"],
    [second, "b"],
    [scene.gateway, 1],
  ] as const) {
    await refuses(t, scene, () => retryOn(gateway, state, id, { token }), {
      status: 400,
      code: -32602,
      reason: "already_redeemed",
    });
  }
  const another = await fresh(scene);
  await passes(t, scene, () => retryOn(second, another, "c", { token }));
});

t.test("twenty copies at once over both replicas, each with its own id", async (t) => {
  for (let run = 0; run < 5; run++) {
    const state = await fresh(scene);
    const before = scene.upstream.arrived.length;
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        retryOn(i % 2 === 0 ? scene.gateway : second, state, `copy-${i}`, { token: scene.owner }),
      ),
    );
    t.equal(scene.upstream.arrived.length, before + 1, "one request at the upstream");
    t.equal(replies.filter(({ status }) => status === 200).length, 1);
    const reasons = replies.flatMap(({ json }) => json.error?.data.reason ?? []);
    t.same(new Set(reasons), new Set(["already_redeemed"]));
    t.equal(reasons.length, 19);
  }
});

t.test("a state of the first round after the second, and the other way round", async (t) => {
  const state = await fresh(scene);
  const ask = scene.upstream.script;
  scene.upstream.script = (arrived, response) => {
    arrived.json.params.requestState = undefined;
    arrived.json.params.inputResponses = undefined;
    return ask(arrived, response);
  };
  const round2: string = (await retryOn(scene.gateway, state, "r1", { token: scene.owner })).json.result
    .requestState;
  scene.upstream.script = ask;
  t.type(round2, "string");
  t.not(round2, state);
  await refuses(t, scene, () => retryOn(second, state, "r2", { token: scene.owner }), {
    status: 400,
    reason: "already_redeemed",
  });
  await passes(t, scene, () => retryOn(second, round2, "r3", { token: scene.owner }));
});

t.test("after a flush of the store nothing of before is redeemed, used or not", async (t) => {
  const used = await fresh(scene);
  const unused = await fresh(scene);
  const token = scene.owner;
  await passes(t, scene, () => retryOn(scene.gateway, used, "f1", { token }));
  await redis.command("FLUSHALL");
  for (const state of [used, unused, used, unused]) {
    for (const gateway of [scene.gateway, second]) {
      await refuses(t, scene, () => retryOn(gateway, state, "f2", { token }), {
        status: 400,
        code: -32602,
        reason: "outcome_unknown",
      });
    }
  }
});
