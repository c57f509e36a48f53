/** Every refusal that has an id, on every channel, fits the SDK's own schemas. (They refuse the null of JSON-RPC.) */
import * as schemas from "@modelcontextprotocol/core";
import t from "tap";
import { z } from "zod";
import { event, eventsOf } from "../support/events.ts";
import { type Reply, startGateway } from "../support/gateway.ts";
import { COMPLETE, fits, fitsResult } from "../support/sdk-schemas.ts";
import { startUpstream } from "../support/upstream.ts";
import { CASES } from "./refusal-cases.ts";
import { asksOnce, holding, retryOf, sendAs, TRANSFER } from "./rounds.ts";
import { NOTE, setUp, streams } from "./streams.ts";

const DATA = {
  missing_capability: z.object({ requiredCapabilities: schemas.ClientCapabilitiesSchema.strict() }),
  unsupported_version: z.object({ supported: z.array(z.string()).min(1), requested: z.string() }),
  legacy_refused: z.object({ supported: z.array(z.string()).min(1), requested: z.string() }),
} as Readonly<Record<string, z.ZodType>>;

for (const id of ["7", '"a\\u0062"']) {
  for (const [code, one] of Object.entries(CASES)) {
    if (one.hasId === false || code === "cancelled") continue;
    t.test(`refusal ${code}, id ${id}`, async (t) => {
      const held = holding();
      const upstream = await startUpstream(one.script === "held" ? held.script : (one.script ?? asksOnce));
      t.teardown(() => upstream.close());
      const sections =
        typeof one.sections === "function" ? await one.sections(t, upstream.url) : (one.sections ?? {});
      const { "x-token": _token, ...settings } = sections;
      const gateway = await startGateway(upstream.url, settings);
      t.teardown(() => gateway.close(0));
      const send = (message = TRANSFER, options = {}): Promise<Reply> =>
        sendAs(gateway, id, message, options);
      const reply = await one.provoke({ t, gateway, upstream, held, id, sections, send });
      fits(t, schemas.JSONRPCErrorResponseSchema, reply?.json);
      t.equal(reply?.json.id, JSON.parse(id));
      const data = DATA[code];
      if (data !== undefined) fits(t, data, reply?.json.error.data);
    });
  }
}

t.test("a refusal as the last event of a stream", async (t) => {
  const { open } = await setUp(t, streams([event(NOTE)]));
  const [note, refusal, ...more] = eventsOf(await (await open()).ended).map((text) => JSON.parse(text));
  fits(t, schemas.JSONRPCNotificationSchema, note);
  fits(t, schemas.JSONRPCErrorResponseSchema, refusal);
  t.same(more, []);
});

t.test("a refusal as a tool result", async (t) => {
  const sections = () => ({ roundTrip: { rejection: "tool-error" } });
  const { gateway } = await setUp(t, asksOnce, sections);
  const reply = await gateway.call(retryOf("sg1.AAAA"));
  fitsResult(t, reply.json, COMPLETE, schemas.CallToolResultSchema.extend({ isError: z.literal(true) }));
});

t.test("the last event of a subscription that a shutdown ends", async (t) => {
  const held = holding();
  const { gateway, open } = await setUp(t, held.script);
  const opening = open({
    method: "subscriptions/listen",
    params: { notifications: { toolsListChanged: true } },
  });
  const { arrived, response } = await held.next();
  const { id, method, params } = arrived.json;
  fits(t, schemas.SubscriptionsListenRequestSchema, { method, params });
  const acknowledged = JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: {
      _meta: { "io.modelcontextprotocol/subscriptionId": String(id) },
      notifications: params.notifications,
    },
  });
  response.writeHead(200, { "content-type": "text/event-stream" }).write(event(acknowledged));
  const stream = await opening;
  await stream.until("acknowledged");
  await gateway.close();
  const [first, last] = eventsOf(await stream.ended).map((text) => JSON.parse(text));
  t.same(first, JSON.parse(acknowledged));
  fits(t, schemas.JSONRPCErrorResponseSchema, last);
  t.equal(last.id, id);
});
