/** A server that trusts what comes back, reviewed as it is and behind the gateway: alone it fails what it is known to, through the gateway nothing. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type ReviewRecord, reviewRecord } from "../../src/review/record.ts";
import { startGateway } from "../support/gateway.ts";
import { AUDIENCE, startIssuer } from "../support/issuer.ts";
import { startNaiveServer } from "../support/naive-server.ts";
import { reviewed } from "../support/review-command.ts";

interface Tokens {
  readonly first: string;
  readonly second: string;
}

async function reviewOf(
  t: Test,
  url: string,
  tokens: Tokens,
): Promise<{ readonly code: number | null; readonly record: ReviewRecord }> {
  const folder = t.testdir({
    ...tokens,
    "plan.yaml": `version: 1
endpoint: ${url}
principals: { first: { token: { file: first } }, second: { token: { file: second } } }
effectProbe: { tool: balance }
limits: { perSecond: 500, timeout: 30s, wait: 1m }
calls:
  - name: transfer
    tool: transfer
    arguments: { amount: 10, to: Zoë }
    otherArguments: { amount: 11, to: Zoë }
    otherTarget: { target: refund, arguments: { amount: 10, to: Zoë } }
    complete: true
    sideEffects: moves money
  - name: book
    tool: book
    arguments: { seats: 2 }
    otherArguments: { seats: 3 }
    otherTarget: { target: transfer, arguments: { amount: 10, to: Zoë } }
    complete: true
  - name: pay
    tool: pay
    otherTarget: { target: book, arguments: { seats: 2 } }
    complete: true
`,
  });
  const json = join(folder, "record.json");
  const { code, err } = await reviewed(t, "--plan", join(folder, "plan.yaml"), "--json", json);
  t.comment(err);
  return { code, record: reviewRecord.parse(JSON.parse(readFileSync(json, "utf8"))) };
}

/** What a server like this one is known to fail, whatever else. */
const KNOWN = [
  "effects/before-accept",
  "answers/wrong-types",
  "answers/against-schema",
  "answers/without-content",
  "answers/ahead",
  "state/missing",
  "state/invented",
  "state/tampered",
  "binding/principal",
  "binding/no-credential",
  "binding/target",
  "binding/arguments",
  "redemption/replay",
  "redemption/replay-other-answers",
  "redemption/at-once",
];

/** What there is nothing to try of, call by call. Everything else passes behind the gateway. */
const NOT_THERE: Readonly<Record<string, readonly string[]>> = {
  // One question in one round.
  "answers/one-missing": ["transfer", "pay"],
  "answers/ahead": ["transfer", "pay"],
  // No form.
  "answers/wrong-types": ["pay"],
  "answers/against-schema": ["pay"],
  "answers/without-content": ["pay"],
  "redemption/replay-other-answers": ["pay"],
  "question/secret": ["pay"],
  "question/link": ["pay"],
  // Nobody is sent anywhere.
  "question/address": ["transfer", "book"],
  // No arguments, and so no other ones.
  "binding/arguments": ["pay"],
  // Minutes by default; test/security has a clock for it.
  "state/expiry": ["transfer", "book", "pay"],
  // The gateway promises no number.
  "redemption/retries": ["transfer", "book", "pay"],
  // The reply may be here before the reviewer cuts the connection.
  "connection/lost": ["transfer", "book", "pay"],
  "connection/timeout": ["transfer", "book", "pay"],
};

const of = ({ results }: ReviewRecord, verdict: string): ReviewRecord["results"] =>
  results.filter((result) => result.verdict === verdict);

t.test("alone it fails what it is known to", async (t) => {
  const server = await startNaiveServer();
  t.teardown(() => server.close());
  const { code, record } = await reviewOf(t, server.url, {
    first: "token-of-the-first",
    second: "token-of-the-second",
  });
  t.equal(code, 2);
  const failed = new Set(of(record, "fail").map(({ check }) => check));
  t.strictSame(
    KNOWN.filter((check) => !failed.has(check)),
    [],
  );
  t.strictSame(of(record, "inconclusive"), []);
});

t.test("behind the gateway, every check passes", async (t) => {
  const server = await startNaiveServer();
  t.teardown(() => server.close());
  const issuer = await startIssuer();
  t.teardown(() => issuer.close());
  const gateway = await startGateway(server.url, {
    authentication: {
      issuers: [{ issuer: issuer.issuer, jwks: { url: issuer.jwksUrl }, audiences: [AUDIENCE] }],
    },
  });
  t.teardown(() => gateway.close(0));
  const tokens = { first: await issuer.token({ sub: "u-1" }), second: await issuer.token({ sub: "u-2" }) };
  const { code, record } = await reviewOf(t, `${gateway.url}/mcp`, tokens);
  t.equal(code, 0);
  for (const verdict of ["fail", "warn", "inconclusive"])
    t.strictSame(
      of(record, verdict).map(({ check, call, words }) => [check, call, words]),
      [],
      verdict,
    );
  t.strictSame(
    of(record, "not_applicable").filter(({ check, call }) => !NOT_THERE[check]?.includes(call ?? "")),
    [],
  );
  const passed = new Set(of(record, "pass").map(({ check }) => check));
  t.strictSame(
    KNOWN.filter((check) => !passed.has(check)),
    [],
    "what fails without the gateway was tried",
  );
  t.equal(record.calls.length, 3);
});
