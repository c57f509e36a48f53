/** Every row of the table of refusals, provoked over real sockets, with both settings of `errors.httpStatus`. */
import t, { type Test } from "tap";
import { REFUSALS, type RefusalCode } from "../../src/errors.ts";
import { startGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { CASES, type Case, type Place } from "./refusal-cases.ts";
import { asksOnce, holding, INNER, sendAs, TRANSFER } from "./rounds.ts";

/** Ids whose spelling a parser would not keep. */
const IDS = ['"a\\u0062\\/c"', "12345678901234567890", "-7", '""', '"\u00e9\\ud83d\\ude00"'];
/** What an HTTP client must see as an error whatever the setting. */
const ALWAYS_HTTP: ReadonlySet<string> = new Set([
  "unauthorized",
  "insufficient_scope",
  "malformed_http",
  "misdirected_host",
  "forbidden_origin",
  "method_not_allowed",
  "not_found",
]);
const INTERNALS = /SECRET|127\.0\.0\.1|10\.1\.2\.3|\.ts\b|node_modules|ECONN|UND_ERR|undici|ioredis|Error:/;

async function setPlace(t: Test, one: Case, id: string, httpStatus: "spec" | "ok"): Promise<Place> {
  const held = holding();
  const upstream = await startUpstream(one.script === "held" ? held.script : (one.script ?? asksOnce));
  t.teardown(() => upstream.close());
  const given = typeof one.sections === "function" ? await one.sections(t, upstream.url) : one.sections;
  const sections: Record<string, unknown> = { errors: { httpStatus }, ...given };
  const { "x-token": _token, ...settings } = sections;
  const gateway = await startGateway(upstream.url, settings);
  t.teardown(() => gateway.close(0));
  return {
    t,
    gateway,
    upstream,
    held,
    id,
    sections,
    send: (message = TRANSFER, options = {}) => sendAs(gateway, id, message, options),
  };
}

for (const httpStatus of ["spec", "ok"] as const) {
  for (const [index, [code, one]] of Object.entries(CASES).entries()) {
    t.test(`${code}, httpStatus ${httpStatus}`, async (t) => {
      const id = IDS[index % IDS.length] ?? "1";
      const place = await setPlace(t, one, id, httpStatus);
      const entry: { status: number; rpc: number; message: string; retryAfter?: number } =
        REFUSALS[code as RefusalCode];
      const reply = await one.provoke(place);
      const { gateway } = place;
      const record = gateway.audit.findLast((found) => found.code === code);
      if (one.cause === undefined) t.equal(record, undefined);
      else t.match(record, { cause: one.cause, outcome: code === "cancelled" ? "cancelled" : "refused" });
      if (code === "cancelled") {
        t.equal(reply, undefined);
        return;
      }
      if (reply === undefined) throw new Error("no reply");
      const inBand = httpStatus === "ok" && one.hasId !== false && !ALWAYS_HTTP.has(code);
      t.equal(reply.status, inBand ? 200 : entry.status);
      t.match(reply.headers["content-type"], /^application\/json(?:; charset=utf-8)?$/);
      const retryAfter = entry.retryAfter === undefined ? undefined : String(entry.retryAfter);
      if (one.retryAfter !== undefined) t.match(reply.headers["retry-after"], one.retryAfter);
      else t.equal(reply.headers["retry-after"], retryAfter);
      const expected = `{"jsonrpc":"2.0","id":${one.hasId === false ? "null" : id},"error":`;
      t.equal(reply.body.slice(0, expected.length), expected, "its own id, byte for byte");
      t.match(reply.json.error, { code: entry.rpc, message: entry.message, data: { reason: code } });
      const requestId = String(reply.headers["x-request-id"]);
      t.match(requestId, /^[0-9a-f-]{36}$/);
      const frozen = code === "invalid_request_state";
      t.equal(reply.json.error.data.requestId, frozen ? undefined : requestId);
      if (record !== undefined) t.equal(record.requestId, requestId);
      const line = gateway
        .logged()
        .split("\n")
        .find((text) => text.includes(requestId) && text.includes(code));
      t.ok(line, "the request id and the code stand in one line of the log");
      const seen = reply.body + JSON.stringify(reply.headers);
      t.notMatch(seen, INTERNALS);
      t.notMatch(seen, new RegExp(new URL(place.upstream.url).port));
      t.notMatch(seen, INNER);
      t.notMatch(gateway.logged(), INNER);
    });
  }
}
