/** `subscriptions/listen` of the SDK through the gateway: open until somebody ends it, and what the server tells arrives. */
import t, { type Test } from "tap";
import { startGateway } from "../support/gateway.ts";
import { connectSdkClient, type SdkClient } from "../support/sdk-client.ts";
import { startSdkServer } from "../support/sdk-server.ts";

const FILTER = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ["note://flows/form", "note://flows/url"],
};

/** The methods (and uris) of notifications, in the order they arrive; `next` waits for one more. */
function watch({ client }: SdkClient): { seen: string[]; count(wanted: number): Promise<void> } {
  const seen: string[] = [];
  let wake = (): void => undefined;
  const note = (text: string): void => {
    seen.push(text);
    wake();
  };
  client.setNotificationHandler("notifications/tools/list_changed", () => note("tools"));
  client.setNotificationHandler("notifications/prompts/list_changed", () => note("prompts"));
  client.setNotificationHandler("notifications/resources/list_changed", () => note("resources"));
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => note(params.uri));
  return {
    seen,
    async count(wanted) {
      while (seen.length < wanted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

async function setUp(t: Test, sections: Record<string, unknown> = {}) {
  const server = await startSdkServer();
  const gateway = await startGateway(server.url, sections);
  const made = await connectSdkClient(`${gateway.url}/mcp`);
  t.teardown(async () => {
    await made.client.close();
    await gateway.close(0);
    await server.close();
  });
  return { server, gateway, made };
}

t.test("every kind of change arrives, in order", async (t) => {
  const { server, gateway, made } = await setUp(t);
  const changes = watch(made);
  const subscription = await made.client.listen(FILTER);
  t.same(subscription.honoredFilter, FILTER);
  server.notify.toolsChanged();
  server.notify.resourceUpdated("note://flows/form");
  server.notify.promptsChanged();
  server.notify.resourceUpdated("note://flows/roots");
  server.notify.resourcesChanged();
  await changes.count(4);
  t.same(changes.seen, ["tools", "note://flows/form", "prompts", "resources"]);

  await subscription.close();
  t.equal(await subscription.closed, "local");
  while (server.open() > 0) await server.changed();
  t.match(
    gateway.audit.filter(({ method }) => method === "subscriptions/listen"),
    [{ outcome: "stream" }],
    "one record",
  );
});

t.test("the SDK's listChanged option opens its stream by itself", async (t) => {
  const server = await startSdkServer();
  const gateway = await startGateway(server.url);
  let tell = (_names: string[]): void => undefined;
  const told = new Promise<string[]>((resolve) => {
    tell = resolve;
  });
  const made = await connectSdkClient(`${gateway.url}/mcp`, {
    listChanged: {
      tools: { debounceMs: 0, onChanged: (_error, tools) => tell((tools ?? []).map((x) => x.name)) },
    },
  });
  t.teardown(async () => {
    await made.client.close();
    await gateway.close(0);
    await server.close();
  });
  t.not(made.client.autoOpenedSubscription, undefined);
  server.notify.toolsChanged();
  t.match(await told, ["form", "form-no-state"], "the list was fetched again");
});

t.test("updates of a hidden resource do not arrive", async (t) => {
  const { server, made } = await setUp(t, {
    authorization: {
      default: "allow",
      policies: [{ id: "no-url", effect: "deny", resources: ["note://flows/url"] }],
    },
  });
  const changes = watch(made);
  await t.rejects(made.client.listen(FILTER), { code: -32602 }, "nor can it be asked for");
  const subscription = await made.client.listen({ ...FILTER, resourceSubscriptions: ["note://flows/form"] });
  server.notify.resourceUpdated("note://flows/url");
  server.notify.resourceUpdated("note://flows/form");
  await changes.count(1);
  t.same(changes.seen, ["note://flows/form"]);
  await subscription.close();
});

t.test("the server's own end arrives as a graceful one", async (t) => {
  const { server, made } = await setUp(t);
  const subscription = await made.client.listen(FILTER);
  await server.close();
  t.equal(await subscription.closed, "graceful");
});

t.test("the gateway's shutdown ends it with a readable last event", async (t) => {
  const { server, gateway, made } = await setUp(t);
  const subscription = await made.client.listen(FILTER);
  await gateway.close();
  t.equal(await subscription.closed, "remote");
  while (server.open() > 0) await server.changed();
});
