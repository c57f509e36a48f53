import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import t from "tap";
import type { AuditRecord } from "../../src/audit/record.ts";
import type { Route } from "../../src/call.ts";
import { Refusal } from "../../src/errors.ts";
import { Journey } from "../../src/journey.ts";
import { createLimits } from "../../src/limits.ts";
import { recordingLog } from "../support/authentication.ts";

function setOut() {
  const raw = Object.assign(new EventEmitter(), { writableFinished: false });
  const records: AuditRecord[] = [];
  const observed: AuditRecord[] = [];
  const log = recordingLog();
  const clock = { now: Date.UTC(2026, 10, 30) };
  let closed = 0;
  let over = 0;
  const journey = new Journey(
    "r-1",
    { config: { path: "/mcp" } } as Route,
    raw as unknown as ServerResponse,
    {
      audit: {
        write: (record) => void (record.type === "audit" && records.push(record)),
        losses: () => new Map(),
        close: async () => undefined,
      },
      metrics: {
        observe: (record) => void observed.push(record),
        redemption: () => undefined,
        spans: () => undefined,
        introspection: () => undefined,
        result: () => undefined,
        credential: () => undefined,
        approval: () => undefined,
        finding: () => undefined,
        keepRoutes: async () => undefined,
        expose: async () => ({ type: "", text: "" }),
      },
      log,
      now: () => clock.now,
    },
    () => {
      closed += 1;
    },
    () => {
      over += 1;
    },
  );
  return { journey, raw, records, observed, log, clock, closed: () => closed, over: () => over };
}

t.test("one record, at the end, with what the stages added", async (t) => {
  const { journey, records, observed, log, clock } = setOut();
  Object.assign(journey.draft, { method: "tools/call", outcome: "input_required", round: 2 });
  clock.now += 250;
  journey.finish({ upstreamStatus: 200 });
  journey.finish({ outcome: "refused", code: "internal" });
  t.same(records, [
    {
      type: "audit",
      time: "2026-11-30T00:00:00.250Z",
      requestId: "r-1",
      route: "/mcp",
      method: "tools/call",
      outcome: "input_required",
      round: 2,
      upstreamStatus: 200,
      latencyMs: 250,
    },
  ]);
  t.same(observed, records);
  t.same(log.lines, []);
});

t.test("a refusal is logged by request id, code and cause", async (t) => {
  const { journey, log, records } = setOut();
  journey.draft.outcome = "complete";
  journey.finish({ outcome: "refused", code: "forbidden", cause: "policy" });
  t.equal(records[0]?.outcome, "refused", "what came last counts");
  t.same(log.lines, [
    {
      level: "warn",
      fields: { requestId: "r-1", code: "forbidden", cause: "policy" },
      message: "request refused",
    },
  ]);
});

t.test("a clock that goes back makes no negative time", async (t) => {
  const { journey, records, clock } = setOut();
  clock.now -= 5_000;
  journey.finish({});
  t.match(records, [{ latencyMs: 0, outcome: "complete" }]);
});

t.test("a client that leaves before the end stops the journey; one that leaves after does not", async (t) => {
  const left = setOut();
  left.raw.emit("close");
  t.ok(left.journey.signal.aborted);
  t.equal(left.journey.stopped?.code, "cancelled");
  left.journey.finish({ outcome: "refused", code: "upstream_timeout" });
  t.equal(left.records[0]?.outcome, "cancelled");
  t.same(left.log.lines, [], "not a refusal");
  const stayed = setOut();
  stayed.raw.writableFinished = true;
  stayed.raw.emit("close");
  t.notOk(stayed.journey.signal.aborted);
  t.equal(stayed.journey.stopped, undefined);
  t.same([left.closed(), stayed.closed()], [1, 1]);
});

t.test("the first reason to stop is the reason", async (t) => {
  const { journey } = setOut();
  journey.stop(new Refusal("shutting_down", "shutdown"));
  journey.stop(new Refusal("cancelled", "client_left"));
  t.equal(journey.stopped?.code, "shutting_down");
});

t.test("superseded: a stream ends, at once or as soon as it is one; a request goes on", async (t) => {
  const limits = createLimits({ inFlight: 1, streams: 1 });
  const open = setOut().journey;
  open.enter(limits, "stream");
  open.supersede();
  t.equal(open.stopped?.code, "configuration_changed");
  const late = setOut().journey;
  late.supersede();
  t.equal(late.stopped, undefined);
  late.enter(createLimits({ inFlight: 1, streams: 1 }), "stream");
  t.equal(late.stopped?.code, "configuration_changed");
  const request = setOut().journey;
  request.enter(limits, "request");
  request.supersede();
  t.equal(request.stopped, undefined);
});

t.test("over: when the answer has left and the record is written, in either order", async (t) => {
  for (const order of ["record first", "answer first"]) {
    const { journey, raw, over } = setOut();
    if (order === "record first") journey.finish({});
    else raw.emit("close");
    t.equal(over(), 0, order);
    if (order === "record first") raw.emit("close");
    else journey.finish({});
    t.equal(over(), 1, order);
    journey.finish({});
    t.equal(over(), 1, order);
  }
});

t.test("shutdown: who may have been heard by the upstream is not told to send it again", async (t) => {
  const shutdown = new Refusal("shutting_down", "shutdown");
  const told = (change: (journey: ReturnType<typeof setOut>["journey"]) => void, late = false) => {
    const { journey } = setOut();
    if (!late) change(journey);
    journey.stop(shutdown);
    if (late) change(journey);
    return journey.stopped?.code;
  };
  const sent: Parameters<typeof told>[0] = (journey) => {
    journey.sent = true;
  };
  t.equal(
    told(() => undefined),
    "shutting_down",
  );
  t.equal(told(sent), "upstream_lost");
  t.equal(told(sent, true), "upstream_lost", "known only after it was stopped");
  t.equal(
    told((journey) => {
      sent(journey);
      journey.enter(createLimits({ inFlight: 1, streams: 1 }), "stream");
    }),
    "shutting_down",
    "a stream is opened again",
  );
  const listening = (journey: ReturnType<typeof setOut>["journey"]): void => {
    journey.sent = true;
    journey.draft.method = "subscriptions/listen";
  };
  t.equal(told(listening), "shutting_down");
  const left = setOut();
  left.journey.sent = true;
  left.raw.emit("close");
  t.equal(left.journey.stopped?.code, "cancelled");
});

t.test("every answer carries the request id and is not stored", async (t) => {
  t.same(setOut().journey.replyHeaders, { "x-request-id": "r-1", "cache-control": "no-store" });
});

t.test("who has gone takes no place, and who goes gives it back once", async (t) => {
  const limits = createLimits({ inFlight: 1, streams: 1 });
  const gone = setOut();
  gone.raw.emit("close");
  for (const kind of ["body", "request", "stream"] as const) {
    t.throws(() => gone.journey.enter(limits, kind), { code: "cancelled" });
  }
  const here = setOut();
  here.journey.enter(limits, "body");
  t.equal(limits.bodies, 1);
  here.journey.enter(limits, "request");
  t.same([limits.bodies, limits.inFlight], [0, 1]);
  t.throws(() => setOut().journey.enter(limits, "request"), { code: "too_many_requests" });
  here.raw.emit("close");
  t.same([limits.bodies, limits.inFlight, limits.streams], [0, 0, 0]);
});
