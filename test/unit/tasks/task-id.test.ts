/** Ids of tasks, sealed and opened. */
import t from "tap";
import { EnvelopeError } from "../../../src/envelope/format.ts";
import type { Sealing } from "../../../src/keyring.ts";
import { loadKeyring } from "../../../src/keyring.ts";
import { createMemoryOverrides } from "../../../src/overrides/memory.ts";
import { lifetimesOf } from "../../../src/overrides/orders.ts";
import { ANONYMOUS } from "../../../src/principal/principal.ts";
import {
  checkTask,
  MAX_SEALED_ID,
  MAX_TASK_SECONDS,
  openTaskId,
  placeTag,
  sealTaskId,
  type TaskClaims,
} from "../../../src/tasks/task-id.ts";

const NOW = 1_790_000_000;
const A = { id: "a", secret: Buffer.alloc(32, 1) };
const B = { id: "b", secret: Buffer.alloc(32, 2) };
const sealing = (ring = loadKeyring([A], "a"), audience = "https://g.example"): Sealing => ({
  keys: { ring },
  audience,
  now: () => NOW * 1_000,
  random: (bytes) => Buffer.alloc(bytes, 7),
});
const CLAIMS: TaskClaims = {
  task: 'own "id" \u00e9',
  tool: "report",
  principal: "p".repeat(43),
  route: placeTag("/mcp"),
  upstream: placeTag("http://u/mcp"),
  chain: "c".repeat(22),
  chainIat: NOW,
  iat: NOW,
};
const PRESENTED = { principal: CLAIMS.principal, route: "/mcp", upstream: "http://u/mcp" };

function fault(run: () => unknown): string {
  try {
    run();
    return "passes";
  } catch (error) {
    if (error instanceof EnvelopeError) return error.fault;
    throw error;
  }
}

t.test("what was sealed is opened, by every ring that has the key", async (t) => {
  const id = sealTaskId(sealing(), CLAIMS) ?? "";
  t.match(id, /^sgt1\.[A-Za-z0-9_-]+$/);
  t.ok(id.length < 500, "fits into a header with ease");
  t.same(openTaskId(sealing(), id).claims, CLAIMS);
  t.same(openTaskId(sealing(loadKeyring([A, B], "b")), id).claims, CLAIMS);
  t.equal(
    fault(() => openTaskId(sealing(loadKeyring([B], "b")), id)),
    "unknown_key",
  );
  t.equal(
    fault(() => openTaskId(sealing(loadKeyring([A], "a"), "https://h.example"), id)),
    "aead",
  );
});

t.test("no character can be changed, added or taken away", async (t) => {
  const id = sealTaskId(sealing(), CLAIMS) ?? "";
  for (let i = 0; i < id.length; i++) {
    const other = id[i] === "A" ? "B" : "A";
    t.not(
      fault(() => openTaskId(sealing(), id.slice(0, i) + other + id.slice(i + 1))),
      "passes",
      String(i),
    );
  }
  for (const text of ["", "sgt1.", `${id}A`, `${id}=`, id.slice(0, -1), ` ${id}`, id.replace("sgt1", "sg1")])
    t.not(
      fault(() => openTaskId(sealing(), text)),
      "passes",
      text.slice(0, 20),
    );
  t.equal(
    fault(() => openTaskId(sealing(), `sgt1.${"A".repeat(MAX_SEALED_ID)}`)),
    "size",
  );
});

t.test("an id that no client could bring is not sealed", async (t) => {
  t.equal(sealTaskId(sealing(), { ...CLAIMS, task: "\u0001".repeat(4_096) }), undefined);
  t.ok(sealTaskId(sealing(), { ...CLAIMS, task: "x".repeat(4_096), tool: "t".repeat(1_024) }));
});

t.test("an id is bound to caller, route and server, and lives a week", async (t) => {
  const judge = (change: Partial<typeof PRESENTED>, now = NOW): string =>
    fault(() => checkTask(CLAIMS, { ...PRESENTED, ...change }, now, 60));
  t.equal(judge({}), "passes");
  t.equal(judge({ principal: "q".repeat(43) }), "principal");
  t.equal(judge({ route: "/mcp2" }), "route");
  t.equal(judge({ upstream: "http://u/mcp?x" }), "upstream");
  t.equal(judge({}, NOW + MAX_TASK_SECONDS - 1), "passes");
  t.equal(judge({}, NOW + MAX_TASK_SECONDS), "expired");
  t.equal(judge({}, NOW - 60), "passes");
  t.equal(judge({}, NOW - 61), "not_yet");
  t.equal(judge({}, Number.NaN), "expired");
});

t.test("a revocation is remembered as long as an id opens, where tasks are served", async (t) => {
  const config = (tasks: "refuse" | "pass") => ({
    envelope: { ttl: 600_000, clockSkew: 60_000 },
    routes: [{ roundTrip: { maxAge: 3_600_000 }, tasks }],
  });
  t.ok(lifetimesOf(config("pass")).chainSeconds >= MAX_TASK_SECONDS);
  t.ok(lifetimesOf(config("refuse")).chainSeconds < 24 * 3_600);
  const clock = { now: NOW * 1_000 };
  const overrides = createMemoryOverrides({
    lifetimes: () => lifetimesOf(config("pass")),
    now: () => clock.now,
  });
  await overrides.revoke({ target: { route: "/mcp" }, by: "op" });
  clock.now += MAX_TASK_SECONDS * 1_000;
  t.ok(overrides.isRevoked(CLAIMS, ANONYMOUS, "/mcp"));
});
