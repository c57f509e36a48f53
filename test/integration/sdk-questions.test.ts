/** What real SDK servers ask breaks no rule, also where every rule is enforced; and what SDK clients answer breaks none either. */
import t from "tap";
import { SWITCHABLE_IDS } from "../../src/rules/catalogue.ts";
import { startGateway } from "../support/gateway.ts";
import { connectSdkClient, outcome } from "../support/sdk-client.ts";
import { FLOWS, startSdkServer } from "../support/sdk-server.ts";

const OURS = SWITCHABLE_IDS.filter((id) => /^(elicitation|sampling|roots|mrtr)\//.test(id));

t.test("every flow of the SDK passes with all rules of questions and answers enforced", async (t) => {
  const server = await startSdkServer();
  const gateway = await startGateway(server.url, {
    rules: Object.fromEntries(OURS.map((id) => [id, "enforce"])),
  });
  t.teardown(async () => {
    await gateway.close(0);
    await server.close();
  });
  const made = await connectSdkClient(`${gateway.url}/mcp`, { action: "accept" });
  for (const name of Object.keys(FLOWS)) {
    t.match(await outcome(made.client.callTool({ name, arguments: { amount: 10.5 } })), { result: {} }, name);
  }
  await made.client.close();
  const broken = gateway.audit.flatMap(({ rules }) => rules ?? []).filter(({ id }) => OURS.some((own) => own === id)); // biome-ignore format: one list
  t.same(broken, []);
});
