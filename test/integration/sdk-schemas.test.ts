/** Results and requests that leave the gateway fit the SDK's own schemas. */
import * as schemas from "@modelcontextprotocol/core";
import t from "tap";
import { z } from "zod";
import { eventsOf } from "../support/events.ts";
import { type Message, PUBLIC_URL, startGateway, type TestGateway } from "../support/gateway.ts";
import { startIssuer } from "../support/issuer.ts";
import { CACHE, COMPLETE, fits, fitsResult, INPUT_REQUIRED } from "../support/sdk-schemas.ts";
import { startSdkServer } from "../support/sdk-server.ts";
import { startUpstream } from "../support/upstream.ts";
import { ASK, asksOnce, retryOf, stateOf, TRANSFER } from "./rounds.ts";

const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} };

t.test("answers of an SDK server", async (t) => {
  const server = await startSdkServer();
  const deny = { id: "some", effect: "deny", tools: ["hang"], prompts: ["url"], resources: ["*/url"] };
  const routes = (legacy: string) => ({ routes: [{ path: "/mcp", upstream: { url: server.url }, legacy }] });
  const gateways: Record<string, TestGateway> = {};
  for (const legacy of ["refuse", "pass"]) {
    for (const policies of [[], [deny]]) {
      const sections = { ...routes(legacy), authorization: { default: "allow", policies } };
      gateways[`legacy ${legacy}, ${policies.length} policies`] = await startGateway(server.url, sections);
    }
  }
  t.teardown(async () => {
    for (const gateway of Object.values(gateways)) await gateway.close(0);
    await server.close();
  });
  const lists: [string, z.ZodType][] = [
    ["server/discover", schemas.DiscoverResultSchema],
    ["tools/list", schemas.ListToolsResultSchema],
    ["prompts/list", schemas.ListPromptsResultSchema],
    ["resources/list", schemas.ListResourcesResultSchema],
    ["resources/templates/list", schemas.ListResourceTemplatesResultSchema],
  ];
  const rounds: [Message, z.ZodType][] = [
    [
      { method: "tools/call", params: { name: "everything", arguments: { amount: 1 } } },
      schemas.CallToolResultSchema,
    ],
    [
      { method: "prompts/get", params: { name: "state-only", arguments: { topic: "x" } } },
      schemas.GetPromptResultSchema,
    ],
    [
      { method: "resources/read", params: { uri: "note://flows/form-no-state" } },
      schemas.ReadResourceResultSchema.and(CACHE),
    ],
  ];
  const responses: Record<string, unknown> = {
    a: { action: "accept", content: { confirm: true } },
    b: { action: "decline" },
    c: { role: "assistant", model: "m", content: { type: "text", text: "x" } },
    "": { roots: [] },
    confirm: { action: "cancel" },
  };
  for (const [name, gateway] of Object.entries(gateways)) {
    t.test(name, async (t) => {
      for (const [method, schema] of lists) {
        fitsResult(t, (await gateway.call({ method })).json, COMPLETE, CACHE, schema);
      }
      for (const [message, schema] of rounds) {
        const asked = await gateway.call(message, { capabilities: ALL });
        fitsResult(t, asked.json, INPUT_REQUIRED);
        const keys = Object.keys(asked.json.result.inputRequests ?? {});
        const inputResponses = Object.fromEntries(keys.map((key) => [key, responses[key]]));
        const retry = retryOf(stateOf(asked), keys.length === 0 ? undefined : inputResponses, message);
        fitsResult(t, (await gateway.call(retry, { capabilities: ALL })).json, COMPLETE, schema);
      }
      const streamed = eventsOf(
        (
          await gateway.call({
            method: "tools/call",
            params: { name: "form", arguments: { amount: 1, progress: true }, _meta: withToken("p") },
          })
        ).body,
      ).map((text) => JSON.parse(text));
      for (const note of streamed.slice(0, -1)) fits(t, schemas.ProgressNotificationSchema, strip(note));
      fits(t, z.array(z.unknown()).length(3), streamed);
      fitsResult(t, streamed.at(-1), INPUT_REQUIRED);
    });
  }
});

const withToken = (progressToken: string) => ({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": ALL,
  progressToken,
});
const strip = ({ jsonrpc: _jsonrpc, ...message }: Record<string, unknown>): unknown => message;

t.test("what goes up to a server", async (t) => {
  const upstream = await startUpstream(asksOnce);
  const gateway = await startGateway(upstream.url, { capability: { allow: ["elicitation.form"] } });
  t.teardown(async () => {
    await gateway.close(0);
    await upstream.close();
  });
  const asked = await gateway.call(TRANSFER, { capabilities: ALL });
  await gateway.call(retryOf(stateOf(asked)), { capabilities: ALL });
  t.equal(upstream.arrived.length, 2);
  for (const { json } of upstream.arrived) {
    fits(t, schemas.JSONRPCRequestSchema, json);
    fits(t, schemas.CallToolRequestSchema, { method: json.method, params: json.params });
    const declared = json.params._meta["io.modelcontextprotocol/clientCapabilities"];
    fits(t, schemas.ClientCapabilitiesSchema, declared);
    t.same(declared, { elicitation: { form: {} } });
  }
  const { inputResponses, requestState } = upstream.arrived[1]?.json.params ?? {};
  fits(t, z.record(z.string(), schemas.ElicitResultSchema), inputResponses);
  t.equal(requestState, JSON.parse(ASK).requestState);
});

t.test("protected resource metadata", async (t) => {
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  for (const requiredScopes of [[], ["mcp"]]) {
    const gateway = await startGateway("http://127.0.0.1:9/", {
      authentication: { issuers: [{ issuer: issuer.issuer, requiredScopes }] },
    });
    t.teardown(() => gateway.close(0));
    const path = "/.well-known/oauth-protected-resource/mcp";
    const reply = await gateway.send({ method: "GET", path });
    fits(t, schemas.OAuthProtectedResourceMetadataSchema, reply.json);
    t.equal(reply.json.resource, `${PUBLIC_URL}/mcp`);
  }
});
