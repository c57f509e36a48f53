import { createHash } from "node:crypto";
import fc from "fast-check";
import t from "tap";
import { checkBinding, type Presented, requestIdDigest, sameDigest } from "../../src/binding.ts";
import { EnvelopeError, type EnvelopeFault } from "../../src/envelope/format.ts";
import { claimsWith, digestOf } from "./envelope/sample.ts";

const CLAIMS = claimsWith();
const NOW = CLAIMS.iat + 10;
const OWN: Presented = {
  route: CLAIMS.route,
  upstream: CLAIMS.upstream,
  principal: CLAIMS.principal,
  method: CLAIMS.method,
  target: CLAIMS.target,
  params: CLAIMS.params,
  version: CLAIMS.version,
};
// Everything but time, in the order of the checks.
const OTHER: Presented = {
  route: "/other",
  upstream: "http://127.0.0.1:9001/mcp",
  principal: digestOf("another principal"),
  method: "prompts/get",
  target: "transfer2",
  version: "2026-07-29",
  params: digestOf("other params"),
};

function fault(presented: Presented, now = NOW, claims = CLAIMS, skew = 60): EnvelopeFault | "passes" {
  try {
    checkBinding(claims, presented, now, skew);
    return "passes";
  } catch (error) {
    if (error instanceof EnvelopeError) return error.fault;
    throw error;
  }
}

t.test("the owner passes", (t) => {
  t.equal(fault(OWN), "passes");
  t.end();
});

t.test("each difference alone is refused under its own name", (t) => {
  for (const member of Object.keys(OTHER) as (keyof Presented)[]) {
    t.equal(fault({ ...OWN, [member]: OTHER[member] }), member);
    for (const value of ["", `${OWN[member]} `, OWN[member].slice(1), "\ud83d", OWN[member].toUpperCase()]) {
      if (value !== OWN[member]) t.equal(fault({ ...OWN, [member]: value }), member);
    }
  }
  t.end();
});

t.test("the order of checks", (t) => {
  const order = ["expired", "not_yet", ...Object.keys(OTHER)];
  const found: string[] = [];
  const claims = { ...CLAIMS, iat: NOW + 61, exp: NOW };
  const presented: Record<string, string> = { ...OTHER };
  found.push(fault(OTHER, NOW, claims), fault(OTHER, NOW, { ...claims, exp: NOW + 100 }));
  for (const member of Object.keys(OTHER) as (keyof Presented)[]) {
    found.push(fault(presented as unknown as Presented));
    presented[member] = OWN[member];
  }
  t.same(found, order);
  t.end();
});

t.test("time", (t) => {
  t.equal(fault(OWN, CLAIMS.exp - 1), "passes");
  t.equal(fault(OWN, CLAIMS.exp - 0.001), "passes");
  t.equal(fault(OWN, CLAIMS.exp), "expired");
  t.equal(fault(OWN, CLAIMS.iat - 60), "passes", "clocks of replicas differ");
  t.equal(fault(OWN, CLAIMS.iat - 61), "not_yet");
  t.equal(fault(OWN, CLAIMS.iat, CLAIMS, 0), "passes");
  t.equal(fault(OWN, CLAIMS.iat - 0.001, CLAIMS, 0), "not_yet", "no skew, none allowed");
  t.equal(fault(OWN, CLAIMS.iat - 300, CLAIMS, 300), "passes");
  t.equal(fault(OWN, CLAIMS.iat, CLAIMS, Number.NaN), "not_yet", "no limit is no permission");
  t.equal(fault(OWN, Number.NaN), "expired", "no time is no permission");
  t.equal(fault(OWN, Number.POSITIVE_INFINITY), "expired");
  t.equal(fault(OWN, Number.NEGATIVE_INFINITY), "not_yet");
  t.end();
});

t.test("text is compared as it is", (t) => {
  const claims = claimsWith({ target: "\ufffd" });
  t.equal(
    fault({ ...OWN, target: "\ud83d" }, NOW, claims),
    "target",
    "half a pair is not the replacement character",
  );
  t.equal(
    fault({ ...OWN, target: "e\u0301" }, NOW, claimsWith({ target: "\u00e9" })),
    "target",
    "no normalisation",
  );
  t.equal(fault({ ...OWN, target: "" }, NOW, claimsWith({ target: "" })), "passes");
  t.end();
});

t.test("sameDigest", (t) => {
  t.ok(sameDigest("abc", "abc"));
  t.notOk(sameDigest("abc", "abd"));
  t.notOk(sameDigest("abc", "ab"));
  t.notOk(sameDigest("abc", "ab\u00e9"), "same number of characters, other number of bytes");
  t.end();
});

t.test("request ids", (t) => {
  const classes = [
    ['"1"', '"\\u0031"'],
    ["1", "1.0", "1e0", "10e-1", "0.1E+1", "1000000e-000000000000000000006"],
    ["-1", "-1.00"],
    ["0", "-0", "0.0", "0e99999999999999999999", "-0e-5"],
    ["100", "1e2", "1.00e2", "0.001e5", "1E+00002"],
    ["9007199254740992"],
    ["9007199254740993", "9007199254740993.0"],
    ["1e400", "10e399"],
    ["1e999999999999999999999", "1e999999999999999999999"],
    ['""'],
    ['"0"'],
    ['"number:1e0"'],
    ['"a/b"', '"a\\/b"', '"\\u0061/b"'],
    ['"\\ud83d"', '"\\uD83D"'],
    ['"\ufffd"', '"\\ufffd"'],
    ['"\\ud83d\\ude00"', '"😀"'],
    ['"é"'],
    ['"e\u0301"'],
    ['"__proto__"'],
  ];
  const digests = classes.map((texts) => new Set(texts.map(requestIdDigest)));
  for (const [i, set] of digests.entries()) t.equal(set.size, 1, `one digest for ${classes[i]?.join(" ")}`);
  t.equal(new Set(digests.flatMap((set) => [...set])).size, classes.length, "and another for each class");
  t.match(requestIdDigest("1"), /^[A-Za-z0-9_-]{43}$/);
  const byHand = createHash("sha256").update("sealgate/request-id/1/number:12e1").digest("base64url");
  t.equal(requestIdDigest("120"), byHand);
  t.end();
});

t.test("safe integers are told apart by value, strings by content", (t) => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.maxSafeInteger(), (a, b) => {
      t.equal(requestIdDigest(`${a}`) === requestIdDigest(`${b}`), a === b);
      t.equal(requestIdDigest(`${a}`), requestIdDigest(`${a}.000`));
      t.equal(requestIdDigest(`${a}`), requestIdDigest(a === 0 ? "0E7" : `${a}000E-3`));
      t.not(requestIdDigest(`${a}`), requestIdDigest(`"${a}"`));
    }),
  );
  const escaped = (s: string) =>
    `"${[...Array(s.length).keys()].map((i) => `\\u${s.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")}"`;
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (s) => {
      t.equal(requestIdDigest(JSON.stringify(s)), requestIdDigest(escaped(s)));
    }),
  );
  t.end();
});

t.test("a huge number takes linear time", (t) => {
  const zeros = "0".repeat(1_000_000);
  t.equal(requestIdDigest(`1${zeros}`), requestIdDigest("1e1000000"));
  t.equal(requestIdDigest(`0.${zeros}1`), requestIdDigest("1e-1000001"));
  t.equal(requestIdDigest(`1e${zeros}1`), requestIdDigest("10"));
  t.throws(() => requestIdDigest(`1${zeros}x`), TypeError);
  t.throws(() => requestIdDigest(`1e${zeros}x`), TypeError);
  t.end();
});

t.test("anything else is a mistake of the caller, and is not quoted", (t) => {
  for (const text of [
    "",
    "null",
    "true",
    "[1]",
    "{}",
    '"open',
    "01",
    "+1",
    "1.",
    ".5",
    "1e",
    " 1",
    "NaN",
    "0x1",
    '"secret"x',
  ]) {
    t.throws(
      () => requestIdDigest(text),
      { name: "TypeError", message: "a request id is neither a JSON string nor a number" },
      text,
    );
  }
  t.end();
});
