import t from "tap";
import { NotAllowed } from "../../../src/review/check.ts";
import { checkPermitted, permitsOf } from "../../../src/review/permits.ts";
import { plannedCall } from "../../support/reviewed.ts";

const permits = permitsOf(plannedCall());
const ARGUMENTS = { amount: 10, to: "Zoë" };

const judge = (
  method: string,
  params: Record<string, unknown>,
  { name = "", completes = true } = {},
): string => {
  try {
    const headers = name === "" ? {} : { "mcp-name": name };
    checkPermitted({ jsonrpc: "2.0", id: 1, method, params }, headers, permits, completes);
    return "sent";
  } catch (error) {
    if (error instanceof NotAllowed) return "not sent";
    throw error;
  }
};

t.test("calls the plan names, and no others", async (t) => {
  t.equal(judge("tools/call", { name: "transfer", arguments: ARGUMENTS }), "sent");
  t.equal(judge("tools/call", { name: "transfer", arguments: { to: "Zoë", amount: 10 } }), "sent");
  t.equal(judge("tools/call", { name: "transfer", arguments: { amount: 11, to: "Zoë" } }), "sent");
  t.equal(judge("tools/call", { name: "refund", arguments: ARGUMENTS }), "sent");
  t.equal(judge("tools/call", { name: "sealgate-review-nothing", arguments: {} }), "sent");
  for (const name of [
    "delete",
    "Transfer",
    "transfer ",
    "transfer\u0000",
    "",
    ["transfer"],
    { toString: 1 },
    null,
    1,
  ])
    t.equal(judge("tools/call", { name, arguments: ARGUMENTS }), "not sent", JSON.stringify(name));
  for (const args of [{ amount: 12, to: "Zoë" }, { ...ARGUMENTS, force: true }, {}, [], "10", null])
    t.equal(
      judge("tools/call", { name: "transfer", arguments: args }),
      args === null ? "not sent" : "not sent",
      JSON.stringify(args),
    );
});

t.test("a header names no more than the body may", async (t) => {
  const params = { name: "transfer", arguments: ARGUMENTS };
  t.equal(judge("tools/call", params, { name: "refund" }), "sent");
  t.equal(judge("tools/call", params, { name: "sealgate-review-other" }), "sent");
  t.equal(judge("tools/call", params, { name: "delete" }), "not sent");
  const encoded = `=?base64?${Buffer.from("delete").toString("base64")}?=`;
  t.equal(judge("tools/call", params, { name: encoded }), "not sent");
});

t.test("another method carries nothing out", async (t) => {
  t.equal(judge("prompts/get", { name: "transfer" }), "sent");
  t.equal(judge("resources/read", { uri: "transfer" }), "sent");
  t.equal(judge("resources/read", { uri: "file:///etc/passwd" }), "not sent");
  t.equal(judge("tools/list", {}), "sent");
  t.equal(judge("sealgate-review/anything", {}), "sent");
  for (const method of [
    "tasks/cancel",
    "tasks/update",
    "resources/subscribe",
    "logging/setLevel",
    "tools/Call",
    "admin/drop",
  ])
    t.equal(judge(method, {}), "not sent", method);
  const ofPrompt = permitsOf(plannedCall({ method: "prompts/get", otherTarget: undefined }));
  t.throws(
    () =>
      checkPermitted(
        { method: "tools/call", params: { name: "transfer", arguments: ARGUMENTS } },
        {},
        ofPrompt,
        true,
      ),
    NotAllowed,
    "a tool that has the name of a prompt",
  );
});

t.test("where the plan does not allow to accept, nothing that could be taken for it is sent", async (t) => {
  const retry = (inputResponses: unknown): string =>
    judge("tools/call", { name: "transfer", arguments: ARGUMENTS, inputResponses }, { completes: false });
  t.equal(retry({ q: { action: "decline" } }), "sent");
  t.equal(retry({ a: { action: "cancel" }, b: { action: "decline" } }), "sent");
  t.equal(retry(undefined), "sent");
  for (const answers of [
    { q: { action: "accept" } },
    { q: { action: "Accept" } },
    { q: {} },
    { a: { action: "decline" }, b: { role: "assistant" } },
    ["accept"],
    "accept",
    null,
  ])
    t.equal(retry(answers), "not sent", JSON.stringify(answers));
});
