import t from "tap";
import type { Exchange } from "../../../src/review/exchange.ts";
import { createRedaction } from "../../../src/review/redaction.ts";
import { plannedCall } from "../../support/reviewed.ts";

const TOKEN = "eyJ-first-token";
const STATE = "c2VhbGVkLXN0YXRl";
const call = plannedCall({
  arguments: { amount: 10, to: "Zoë", note: "for the boat" },
  otherArguments: undefined,
  otherTarget: undefined,
  answers: { confirm: { content: { account: "DE02-1234", ok: true } } },
});
const plan = { tokens: { first: TOKEN, second: "the-other-token" }, calls: [call], probe: undefined };

function exchange(received: Partial<Exchange["received"]>, params: Record<string, unknown> = {}): Exchange {
  return {
    number: 1,
    label: "retry",
    sent: {
      caller: "first",
      headers: { "mcp-name": "transfer", "mcp-param-to": "Zoë", authorization: "Bearer (first)" },
      message: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "transfer", arguments: call.arguments, requestState: STATE, ...params },
      },
    },
    received: {
      kind: "result",
      status: 200,
      headers: {},
      resultType: "complete",
      result: {},
      ...received,
    } as Exchange["received"],
    at: 0,
    ms: 1,
  };
}

t.test("what is secret or personal stands nowhere, also where the server repeats it", async (t) => {
  const redaction = createRedaction(plan, false);
  const answers = { confirm: { action: "accept", content: { account: "DE02-1234", ok: true } } };
  const shown = redaction.exchange(
    exchange(
      {
        headers: { "x-echo": TOKEN, "www-authenticate": `Bearer realm="${TOKEN}"`, "set-cookie": "sid=1" },
        result: {
          resultType: "input_required",
          requestState: `${STATE}-next`,
          inputRequests: {
            confirm: {
              method: "elicitation/create",
              params: {
                message: `Send 10 to Zoë for the boat from DE02-1234? ${TOKEN} ${STATE}`,
                url: "https://pay.example/go?code=hunter2#x",
              },
            },
          },
          structuredContent: { "DE02-1234": "a person's name", iban: TOKEN },
        },
      },
      { inputResponses: answers },
    ),
  );
  const text = JSON.stringify(shown);
  for (const secret of [
    TOKEN,
    STATE,
    "Zoë",
    "for the boat",
    "DE02-1234",
    "a person's name",
    "hunter2",
    "sid=1",
  ])
    t.notMatch(text, secret, secret);
  t.match(text, "(state 1, 16 characters)");
  t.match(text, '"action":"accept"');
  t.match(text, "Send (argument) to (argument) (argument) from (answer)? (token) (state 1");
  t.match(text, "https://pay.example/go");
});

t.test("one state has one name, and another one another", async (t) => {
  const redaction = createRedaction(plan, false);
  redaction.exchange(exchange({ result: { requestState: "a-new-state" } }));
  const again = redaction.exchange(exchange({}, { requestState: "a-new-state" }));
  t.match(again.sent.message, { params: { requestState: "(state 2, 11 characters)" } });
  t.match(redaction.exchange(exchange({}, { requestState: { odd: 1 } })).sent.message, {
    params: { requestState: "(state that is no text)" },
  });
});

t.test("an error says its words and the shape of its data", async (t) => {
  const { received } = createRedaction(plan, false).exchange(
    exchange({ kind: "error", code: -32602, message: `bad ${STATE}`, data: { reason: "x", at: 3 } } as never),
  );
  t.match(received, {
    code: -32602,
    message: /^bad \(state 1/,
    data: { reason: "(text of 1)", at: "(number)" },
  });
});

t.test("arguments stay where the operator wants them, answers and tokens still do not", async (t) => {
  const shown = createRedaction(plan, true).exchange(
    exchange({ kind: "error", message: `Zoë DE02-1234 ${TOKEN}` } as never),
  );
  t.match(shown.sent.message, { params: { arguments: { to: "Zoë" } } });
  t.match(shown.received, { message: "Zoë (answer) (token)" });
});

t.test("short values hit no words of the protocol", async (t) => {
  const short = plannedCall({ arguments: { a: "form", b: 28, c: 7 } });
  const { sent, received } = createRedaction({ ...plan, calls: [short] }, false).exchange(
    exchange({ kind: "error", message: "7 forms, 17 of 28" } as never, { _meta: { version: "2026-07-28" } }),
  );
  t.match(sent.message, { params: { _meta: { version: "2026-07-28" } } });
  t.match(received, { message: "(argument) forms, 17 of (argument)" });
});

t.test("the reviewer's own words stay, what it quotes of a server does not", async (t) => {
  const own = plannedCall({ arguments: { to: "review", via: "retry of round 1", from: 'a "b"' } });
  const redaction = createRedaction({ ...plan, calls: [own] }, false);
  t.equal(redaction.found("a review of retry of round 1"), "a review of retry of round 1");
  t.equal(redaction.found(`came to "no review for ${TOKEN}"`), 'came to "no (argument) for (token)"');
  t.equal(redaction.found(`quotes ${JSON.stringify('a "b" here')}`), 'quotes "(argument) here"');
  t.equal(redaction.found(`bare ${TOKEN}`), "bare (token)");
  const shown = redaction.exchange({
    ...exchange({ kind: "error", message: "for review" } as never),
    label: "map: retry of round 1",
  });
  t.equal(shown.label, "map: retry of round 1");
  t.match(shown.received, { message: "for (argument)" });
});

t.test("odd states and long texts do no harm", async (t) => {
  const redaction = createRedaction(plan, false);
  redaction.exchange(exchange({}, { requestState: "" }));
  redaction.exchange(exchange({}, { requestState: "abcdefgh" }));
  redaction.exchange(exchange({}, { requestState: "abcdefgh-and-more" }));
  const { received } = redaction.exchange(
    exchange({ kind: "error", message: "not abcdefgh-and-more, abcdefgh" } as never),
  );
  t.match(received, { message: "not (state 3, 17 characters), (state 2, 8 characters)" });
  const long = redaction.exchange(exchange({ kind: "error", message: TOKEN.repeat(10_000) } as never));
  t.match(long.received, { message: "(text of 150000)" });
});
