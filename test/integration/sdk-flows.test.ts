/** Every round trip of the real SDK client and server comes out through the gateway exactly as without it. */
import t from "tap";
import { startGateway } from "../support/gateway.ts";
import { type Action, connectSdkClient, outcome, type SdkClient } from "../support/sdk-client.ts";
import { FLOWS, ODD_NAME, startSdkServer } from "../support/sdk-server.ts";

type Report = { progress: number; total?: number | undefined; message?: string | undefined };

const CALLS = {
  "tools/call": ({ client }: SdkClient, name: string, reports: Report[]) =>
    client.callTool(
      { name, arguments: { amount: 10.5, progress: true } },
      { onprogress: (report) => void reports.push(report) },
    ),
  "prompts/get": ({ client }: SdkClient, name: string) =>
    client.getPrompt({ name, arguments: { topic: "Zoë" } }),
  "resources/read": ({ client }: SdkClient, name: string) =>
    client.readResource({ uri: `note://flows/${name}` }),
} as const;

type Method = keyof typeof CALLS;

/** Runs one flow and says what came of it: outcome, questions the user saw, progress, HTTP answers. */
async function play(url: string, method: Method, flow: string, action: Action) {
  const made = await connectSdkClient(url, { action });
  const reports: Report[] = [];
  const came = await outcome(CALLS[method](made, flow, reports));
  await made.client.close();
  return { came, asked: made.asked, reports, answers: made.answers };
}

const PEOPLE = ["form", "form-no-state", "url", "everything", "empty-state"];

for (const responseMode of ["auto", "sse", "json"] as const) {
  t.test(`responseMode ${responseMode}`, async (t) => {
    const server = await startSdkServer({ responseMode });
    const gateway = await startGateway(server.url);
    t.teardown(async () => {
      await gateway.close(0);
      await server.close();
    });
    for (const method of Object.keys(CALLS) as Method[]) {
      for (const flow of Object.keys(FLOWS)) {
        for (const action of ["accept", "decline", "cancel"] as const) {
          if (action !== "accept" && !PEOPLE.includes(flow)) continue;
          t.test(`${method} ${flow} ${action}`, async (t) => {
            const [direct, through] = await Promise.all([
              play(server.url, method, flow, action),
              play(`${gateway.url}/mcp`, method, flow, action),
            ]);
            t.match(direct.came, { result: {} }, "the flow itself works");
            t.same(through, direct);
          });
        }
      }
    }
  });
}

t.test("what needs no round trip comes out the same too", async (t) => {
  const server = await startSdkServer();
  const gateway = await startGateway(server.url);
  t.teardown(async () => {
    await gateway.close(0);
    await server.close();
  });
  const calls: Record<string, (made: SdkClient) => Promise<unknown>> = {
    "tools/list": ({ client }) => client.listTools(),
    "prompts/list": ({ client }) => client.listPrompts(),
    "resources/list": ({ client }) => client.listResources(),
    "resources/templates/list": ({ client }) => client.listResourceTemplates(),
    "structured content": ({ client }) => client.callTool({ name: "plain", arguments: { amount: 1 } }),
    "a tool that fails": ({ client }) => client.callTool({ name: "fails", arguments: {} }),
    "an argument that is mirrored in a header": async ({ client }) => {
      await client.listTools();
      const regions = ["eu", " ", "Zoë ☕", "=?base64?ZXU=?=", "a\tb", "x".repeat(2000)];
      return Promise.all(regions.map((region) => client.callTool({ name: "region", arguments: { region } })));
    },
    "a name that no header can hold": ({ client }) =>
      client.getPrompt({ name: ODD_NAME, arguments: { city: "Berlin" } }),
    completion: ({ client }) =>
      client.complete({
        ref: { type: "ref/prompt", name: ODD_NAME },
        argument: { name: "city", value: "Ber" },
      }),
    "log messages": async ({ client }) => {
      const logged: unknown[] = [];
      client.setNotificationHandler("notifications/message", ({ params }) => void logged.push(params));
      const _meta = { "io.modelcontextprotocol/logLevel": "info" };
      return [await client.callTool({ name: "logs", arguments: {}, _meta }), logged];
    },
    "twenty calls of three rounds at once": ({ client }) =>
      Promise.all(
        Array.from({ length: 20 }, (_, amount) =>
          client.callTool({ name: "three-rounds", arguments: { amount } }),
        ),
      ),
    "an unknown tool": ({ client }) => client.callTool({ name: "nope", arguments: {} }),
    "an unknown prompt": ({ client }) => client.getPrompt({ name: "nope" }),
    "an unknown resource": ({ client }) => client.readResource({ uri: "note://nope" }),
    "wrong arguments": ({ client }) => client.callTool({ name: "plain", arguments: { amount: "x" } }),
    "what the server says it is": async ({ client }) => ({
      version: client.getNegotiatedProtocolVersion(),
      server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    }),
  };
  for (const [name, call] of Object.entries(calls)) {
    t.test(name, async (t) => {
      const ends = [server.url, `${gateway.url}/mcp`].map(async (url) => {
        const made = await connectSdkClient(url);
        const came = await outcome(call(made));
        await made.client.close();
        // Calls at once may be answered in any order.
        return { came, answers: made.answers.map(({ status, type }) => `${status} ${type}`).toSorted() };
      });
      const [direct, through] = await Promise.all(ends);
      t.same(through, direct);
    });
  }
});

t.test(
  "an argument that differs from its header is refused by the server, and reads like that",
  async (t) => {
    const server = await startSdkServer();
    const gateway = await startGateway(server.url);
    t.teardown(async () => {
      await gateway.close(0);
      await server.close();
    });
    const message = { method: "tools/call", params: { name: "region", arguments: { region: "eu" } } };
    const same = await gateway.call(message, { headers: { "mcp-param-region": "eu" } });
    t.match(same.json, { result: { content: [{ text: "eu" }] } });
    for (const region of ["us", undefined, "=?base64?dXM=?="]) {
      const other = await gateway.call(message, { headers: { "mcp-param-region": region } });
      t.match(other, { status: 400, json: { error: { code: -32020 } } });
    }
  },
);
