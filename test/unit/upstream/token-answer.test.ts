/** Answers of token endpoints: what is a token, what is a no to the caller, and what is nobody's fault but the operator's. */
import fc from "fast-check";
import t from "tap";
import { Refusal } from "../../../src/errors.ts";
import { asGrantRefusal, parseAnswer, readGranted } from "../../../src/upstream/token-answer.ts";

const ACCESS = "urn:ietf:params:oauth:token-type:access_token";
const GOOD = { access_token: "abc.def", token_type: "Bearer", issued_token_type: ACCESS, expires_in: 300 };

const causeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal) return `${error.code} ${error.detail}`;
    throw error;
  }
  return "none";
};

t.test("a token is read, whatever else stands beside it", async (t) => {
  t.same(readGranted({ ...GOOD, scope: "a", refresh_token: "r", "": 1 }, true), {
    token: "abc.def",
    expiresIn: 300,
  });
  t.equal(readGranted({ ...GOOD, token_type: "bEARER" }, true).token, "abc.def");
  const jwt = "urn:ietf:params:oauth:token-type:jwt";
  t.equal(readGranted({ ...GOOD, issued_token_type: jwt }, true).token, "abc.def");
  const { issued_token_type, ...plain } = GOOD;
  t.equal(readGranted(plain, false).token, "abc.def", "only an exchange says what it issued");
});

t.test("times: numbers, and numbers as texts; all else is not said", async (t) => {
  for (const [given, seconds] of [
    [1, 1],
    ["3599", 3599],
    [0.5, 0.5],
    ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, null, "1e3", "-1", "", "99999999999", [], {}].map(
      (odd) => [odd, undefined] as const,
    ),
    [undefined, undefined],
  ] as const) {
    t.equal(readGranted({ ...GOOD, expires_in: given }, true).expiresIn, seconds, String(given));
  }
});

t.test("what cannot be used is a fault", async (t) => {
  for (const [change, cause] of [
    [{ token_type: "N_A" }, "token_type"],
    [{ token_type: "DPoP" }, "token_type"],
    [{ token_type: undefined }, "token_type"],
    [{ token_type: ["Bearer"] }, "token_type"],
    [{ issued_token_type: undefined }, "issued_token_type"],
    [{ issued_token_type: "urn:ietf:params:oauth:token-type:refresh_token" }, "issued_token_type"],
    [{ issued_token_type: "urn:ietf:params:oauth:token-type:id_token" }, "issued_token_type"],
    [{ access_token: undefined }, "token"],
    [{ access_token: "" }, "token"],
    [{ access_token: 7 }, "token"],
    [{ access_token: "a b" }, "token"],
    [{ access_token: "a\r\nx-evil: 1" }, "token"],
    [{ access_token: "a".repeat(8 * 1024 + 1) }, "token"],
  ] as const) {
    t.equal(
      causeOf(() => readGranted({ ...GOOD, ...change }, true)),
      `credential_fault grant_${cause}`,
    );
  }
  t.equal(readGranted({ ...GOOD, access_token: "a".repeat(8 * 1024) }, true).token.length, 8 * 1024);
});

t.test("errors: the caller's, the operator's, an outage", async (t) => {
  for (const [status, error, caller, gateway] of [
    [
      400,
      "invalid_request",
      "credential_refused grant_invalid_request",
      "credential_fault grant_invalid_request",
    ],
    [400, "invalid_grant", "credential_refused grant_invalid_grant", "credential_fault grant_invalid_grant"],
    [
      400,
      "invalid_target",
      "credential_refused grant_invalid_target",
      "credential_fault grant_invalid_target",
    ],
    [400, "invalid_scope", "credential_refused grant_invalid_scope", "credential_fault grant_invalid_scope"],
    [403, "access_denied", "credential_refused grant_access_denied", "credential_fault grant_access_denied"],
    [400, "consent_required", "credential_refused grant_other", "credential_fault grant_other"],
    [400, "__proto__", "credential_refused grant_other", "credential_fault grant_other"],
    [401, "invalid_grant", "credential_fault grant_client", "credential_fault grant_client"],
    [400, "invalid_client", "credential_fault grant_client", "credential_fault grant_client"],
    [400, "unauthorized_client", "credential_fault grant_client", "credential_fault grant_client"],
    [400, "unsupported_grant_type", "credential_fault grant_client", "credential_fault grant_client"],
    [400, undefined, "credential_fault grant_status", "credential_fault grant_status"],
    [404, "invalid_grant", "credential_fault grant_status", "credential_fault grant_status"],
    [201, "invalid_grant", "credential_fault grant_status", "credential_fault grant_status"],
    [302, "invalid_grant", "credential_fault grant_redirect", "credential_fault grant_redirect"],
    [429, "invalid_grant", "credential_unavailable grant_status", "credential_unavailable grant_status"],
    [503, "invalid_grant", "credential_unavailable grant_status", "credential_unavailable grant_status"],
  ] as const) {
    for (const [inTheName, expected] of [
      [true, caller],
      [false, gateway],
    ] as const) {
      const { code, detail } = asGrantRefusal(status, { error }, inTheName);
      t.equal(`${code} ${detail}`, expected, `${status} ${error}`);
    }
  }
  t.equal(asGrantRefusal(400, undefined, true).detail, "grant_status");
});

t.test("bytes that are no JSON object are none", async (t) => {
  t.same(parseAnswer(Buffer.from('{"a":1}')), { a: 1 });
  for (const text of ["", "[]", "null", '"x"', "{", "{}x"])
    t.equal(parseAnswer(Buffer.from(text)), undefined, text);
  t.equal(parseAnswer(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), undefined, "no UTF-8");
});

t.test("whatever comes becomes a token that fits a header, or one of the known refusals", async (t) => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom("Bearer", ACCESS, "abc", "invalid_grant", 60, "60"));
  const answer = fc.record(
    { access_token: value, token_type: value, issued_token_type: value, expires_in: value, error: value },
    { requiredKeys: [] },
  );
  const known = /^credential_(fault|refused|unavailable) grant_[a-z_]{1,30}$/;
  fc.assert(
    fc.property(answer, fc.integer({ min: 100, max: 599 }), fc.boolean(), (given, status, exchanged) => {
      const { code, detail } = asGrantRefusal(status, given, exchanged);
      t.ok(known.test(`${code} ${detail}`));
      const cause = causeOf(() => t.match(readGranted(given, exchanged).token, /^[!-~]+$/));
      return cause === "none" || known.test(cause);
    }),
  );
});
