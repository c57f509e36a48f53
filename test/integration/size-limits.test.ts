/** Sizes of what is sealed, each at its edge: the server's state, its form schemas, and the text of a token that comes back. */
import t, { type Test } from "tap";
import { tokenBytesFor } from "../../src/envelope/format.ts";
import { PUBLIC_URL, startGateway, type TestGateway } from "../support/gateway.ts";
import { result, startUpstream } from "../support/upstream.ts";
import { answers, DONE, isRetry, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const KIB = 1024;

/** A gateway before a server that asks with this state and schema. */
async function open(
  t: Test,
  envelope: Record<string, string>,
  asked: { state?: string; schema?: string },
  limits = {},
) {
  const form = { message: "Sure?", requestedSchema: "SCHEMA" };
  const ask = JSON.stringify({
    resultType: "input_required",
    ...(asked.state === undefined ? {} : { requestState: asked.state }),
    inputRequests: { confirm: { method: "elicitation/create", params: form } },
  }).replace('"SCHEMA"', asked.schema ?? '{"type":"object","properties":{"ok":{"type":"boolean"}}}');
  const upstream = await startUpstream((arrived, response) =>
    result(arrived, response, isRetry(arrived) ? DONE : ask),
  );
  t.teardown(() => upstream.close());
  const server = { listen: "127.0.0.1:0", publicUrl: PUBLIC_URL, allowedHosts: ["127.0.0.1"], limits };
  const gateway = await startGateway(upstream.url, { envelope, server });
  t.teardown(() => gateway.close(0));
  return { gateway, upstream };
}

const refused = async (gateway: TestGateway): Promise<unknown> => {
  const reply = await gateway.call(TRANSFER);
  return reply.json.result === undefined ? gateway.audit.at(-1)?.cause : undefined;
};

/** Texts of so many bytes as UTF-8: counted in bytes, whatever they cost as JSON. */
const TEXTS: readonly (readonly [string, (bytes: number) => string])[] = [
  ["plain", (bytes) => "x".repeat(bytes)],
  ["escaped to six bytes each", (bytes) => "\u0001".repeat(bytes)],
  ["quotes", (bytes) => '"'.repeat(bytes)],
  ["two bytes each", (bytes) => "\u00e9".repeat(bytes / 2) + "x".repeat(bytes % 2)],
  ["four bytes each", (bytes) => "\u{1f510}".repeat(bytes / 4) + "x".repeat(bytes % 4)],
];

for (const [name, text] of TEXTS) {
  t.test(`maxStateBytes, ${name}: that many and not one more`, async (t) => {
    for (const [setting, max] of [
      ["256B", 256],
      ["64KiB", 64 * KIB],
      ["1MiB", KIB * KIB],
    ] as const) {
      const limits = { body: "16MiB" };
      const largest = await open(t, { maxStateBytes: setting }, { state: text(max) }, limits);
      const state = stateOf(await largest.gateway.call(TRANSFER));
      t.ok(state.length <= tokenBytesFor(max, 16 * KIB));
      t.equal((await largest.gateway.call(retryOf(state))).status, 200);
      t.equal(largest.upstream.arrived.at(-1)?.json.params.requestState, text(max), "it comes back whole");
      const more = await open(t, { maxStateBytes: setting }, { state: text(max + 1) }, limits);
      t.equal(await refused(more.gateway), "state_too_large", `${setting} and one`);
    }
  });
}

t.test("a state that no request could bring back is not asked about", async (t) => {
  for (const [bytes, fits] of [
    [40 * KIB, true],
    [64 * KIB, false],
  ] as const) {
    const { gateway } = await open(t, {}, { state: "x".repeat(bytes) }, { body: "80KiB" });
    if (fits) t.equal((await gateway.call(retryOf(stateOf(await gateway.call(TRANSFER))))).status, 200);
    else t.equal(await refused(gateway), "state_too_large");
  }
});

/** A form schema of exactly so many bytes; `filler` is repeated in a title, as JSON. */
function schemaOf(bytes: number, filler = "x"): string {
  const start = '{"type":"object","properties":{"ok":{"type":"boolean","title":"';
  const end = '"}}}';
  const room = bytes - start.length - end.length;
  return `${start}${filler.repeat(room / filler.length)}${"x".repeat(room % filler.length)}${end}`;
}

t.test("maxSchemaBytes: that many and not one more, also of what doubles when it is sealed", async (t) => {
  for (const [setting, max] of [
    ["1KiB", KIB],
    ["16KiB", 16 * KIB],
    ["64KiB", 64 * KIB],
  ] as const) {
    for (const filler of ["x", '\\"', "\\\\"]) {
      const largest = await open(t, { maxSchemaBytes: setting }, { schema: schemaOf(max, filler) });
      const state = stateOf(await largest.gateway.call(TRANSFER));
      t.equal((await largest.gateway.call(retryOf(state))).status, 200);
      const more = await open(t, { maxSchemaBytes: setting }, { schema: schemaOf(max + 1, filler) });
      t.equal(await refused(more.gateway), "schema_too_large", `${setting} and one`);
    }
  }
  const byDefault = await open(t, {}, { schema: schemaOf(16 * KIB + 1) });
  t.equal(await refused(byDefault.gateway), "schema_too_large");
});

t.test("the largest state with the largest schemas", async (t) => {
  const envelope = { maxStateBytes: "64KiB", maxSchemaBytes: "64KiB" };
  const asked = { state: "\u0001".repeat(64 * KIB), schema: schemaOf(64 * KIB, "\\\\") };
  const { gateway, upstream } = await open(t, envelope, asked);
  t.equal((await gateway.call(retryOf(stateOf(await gateway.call(TRANSFER))))).status, 200);
  t.equal(upstream.arrived.at(-1)?.json.params.requestState, asked.state);
});

t.test("a token is measured before it is decoded", async (t) => {
  const upstream = await startUpstream(answers(DONE));
  t.teardown(() => upstream.close());
  const cases = [
    [{}, tokenBytesFor(64 * KIB, 16 * KIB)],
    [{ maxStateBytes: "256B", maxSchemaBytes: "1KiB" }, tokenBytesFor(256, KIB)],
  ] as const;
  for (const [envelope, cap] of cases) {
    const gateway = await startGateway(upstream.url, { envelope });
    t.teardown(() => gateway.close(0));
    const cause = async (token: string): Promise<unknown> => {
      t.equal((await gateway.call(retryOf(token))).json.error.data.reason, "invalid_request_state");
      return gateway.audit.at(-1)?.cause;
    };
    const body = "A".repeat(cap - 4 - ((cap - 4) % 4));
    t.equal(await cause(`sg1.${body}`), "unknown_key", "it was decoded");
    t.equal(await cause(`sg1.${"*".repeat(cap - 4)}`), "encoding", "it was looked at");
    t.equal(await cause(`sg1.${"A".repeat(cap - 3)}`), "size");
    t.equal(await cause("*".repeat(cap + 1)), "size", "whatever it is");
    t.equal(
      await cause("\u00e9".repeat(cap / 2 + 1)),
      "prefix",
      "characters count, and a first one is looked at",
    );
  }
  t.equal(upstream.arrived.length, 0);
});
