/** A call that the SDK client gives up reaches the server as a cancellation at once (basic/transports/streamable-http). */
import t from "tap";
import { startGateway } from "../support/gateway.ts";
import { connectSdkClient, type SdkClient } from "../support/sdk-client.ts";
import { type SdkServer, startSdkServer } from "../support/sdk-server.ts";

/** Waits until `holds`, told by the server and not by a clock. */
async function until(server: SdkServer, holds: () => boolean): Promise<void> {
  while (!holds()) await server.changed();
}

const WAYS: Record<string, (made: SdkClient, server: SdkServer) => Promise<unknown>> = {
  async "before the server answered"(made, server) {
    const abort = new AbortController();
    const call = made.client.callTool({ name: "hang", arguments: {} }, { signal: abort.signal });
    await Promise.race([call, until(server, () => server.hanging.count === 1)]);
    abort.abort();
    return call;
  },
  async "in the middle of a stream"(made, server) {
    const abort = new AbortController();
    const progress = new Promise<void>((resolve) => {
      const call = made.client.callTool(
        { name: "hang", arguments: {} },
        { signal: abort.signal, onprogress: (report) => report.progress === 2 && resolve() },
      );
      call.catch(() => undefined);
    });
    await progress;
    await until(server, () => server.hanging.count === 1);
    abort.abort();
    throw new Error("aborted");
  },
  async "by its own time limit"(made) {
    return made.client.callTool({ name: "hang", arguments: {} }, { timeout: 100 });
  },
  async "when the whole client closes"(made, server) {
    const call = made.client.callTool({ name: "hang", arguments: {} });
    call.catch(() => undefined);
    await until(server, () => server.hanging.count === 1);
    await made.client.close();
    return call;
  },
};

for (const [name, way] of Object.entries(WAYS)) {
  t.test(name, async (t) => {
    const server = await startSdkServer();
    const gateway = await startGateway(server.url);
    const made = await connectSdkClient(`${gateway.url}/mcp`);
    t.teardown(async () => {
      await made.client.close();
      await gateway.close(0);
      await server.close();
    });
    await t.rejects(way(made, server));
    await until(server, () => server.hanging.aborted === 1 && server.open() === 0);
    t.match(gateway.audit.at(-1), { outcome: "cancelled", method: "tools/call", target: { name: "hang" } });
    t.notMatch(gateway.logged(), /internal error/);
  });
}
