/** What tests of event streams have in common: an upstream that streams, and a client that sees every piece. */
import type { Test } from "tap";
import { type Message, mirrored, startGateway } from "../support/gateway.ts";
import { openStream } from "../support/open-stream.ts";
import { type Script, startUpstream } from "../support/upstream.ts";
import { DONE, TRANSFER, textOf } from "./rounds.ts";

export const STREAM = { "content-type": "text/event-stream" };
export const NOTE =
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1.10}}';
/** A subscription to changes of the tools, and what comes on one. */
export const LISTEN: Message = {
  method: "subscriptions/listen",
  params: { notifications: { toolsListChanged: true } },
};
export const ACKNOWLEDGED =
  '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}';
export const CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}';
export const RESULT = `{"jsonrpc":"2.0","id":1,"result":${DONE}}`;
/** A gateway before a scripted upstream; `open` sends a request with the id 1 and resolves with the head of the answer. */
export async function setUp(
  t: Test,
  script: Script,
  sections: (url: string) => Record<string, unknown> = () => ({}),
) {
  const upstream = await startUpstream(script);
  const gateway = await startGateway(upstream.url, sections(upstream.url));
  t.teardown(async () => {
    await gateway.close(0);
    await upstream.close();
  });
  const open = (message: Message = TRANSFER) =>
    openStream(gateway.url, { headers: mirrored(message), body: textOf("1", message) });
  return { upstream, gateway, open };
}

/** Answers with a stream of these pieces; the last one ends it, unless it stays open. */
export const streams =
  (pieces: readonly (string | Buffer)[], staysOpen = false): Script =>
  (_arrived, response) => {
    response.writeHead(200, STREAM);
    for (const piece of pieces) response.write(piece);
    if (!staysOpen) response.end();
  };
