/** Every number and every comparison that README and docs state has something behind it: docs/claims.json, docs/decisions/0038-claims.md. */
import t from "tap";
import { type Claim, claims, type Recorded, wrongWith } from "../support/claims.ts";
import { type Page, page, pages, section } from "../support/markdown.ts";
import { flat, stated } from "../support/stated.ts";

/** Pages of their own kind: dated records, what a command writes and a test compares, and the format that vectors hold. */
const HELD_ELSEWHERE = /^(CHANGELOG|CONTRIBUTING|docs\/(rules|conformance|envelope|decisions\/.*))(\.md|$)/;
const PAGES = pages().filter(({ path }) => !HELD_ELSEWHERE.test(path.replace(/\.md$/, "")));
const CLAIMS = claims();
const isRecord = (claim: Claim | Recorded): claim is Recorded => claim.kind === "record";

/** Where a text stands in another: start and end of each place. */
function places(text: string, part: string): [number, number][] {
  const found: [number, number][] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1))
    found.push([at, at + part.length]);
  return found;
}

/** What a page states and nothing answers for, with the words around it. */
function unanswered(at: Page, known: readonly (Claim | Recorded)[]): string[] {
  const text = flat(at);
  const covered = known.flatMap((claim) =>
    places(text, isRecord(claim) ? flat(section(at, claim.section)).trim() : claim.text),
  );
  return stated(text)
    .filter((one) => !covered.some(([from, to]) => from <= one.at && one.at + one.text.length <= to))
    .map((one) => `${one.text}: …${text.slice(Math.max(0, one.at - 40), one.at + one.text.length + 20)}…`);
}

for (const at of PAGES) {
  t.test(`${at.path} states nothing that docs/claims.json does not answer for`, async (t) => {
    t.same(unanswered(at, CLAIMS[at.path] ?? []), []);
  });
}

for (const [path, known] of Object.entries(CLAIMS)) {
  t.test(`claims of ${path} are still stated, one number each, and hold`, async (t) => {
    const text = flat(page(path));
    const wrong = known.flatMap((claim) => {
      const problem = wrongWith(claim, path);
      const name = isRecord(claim) ? claim.section : claim.text;
      if (problem !== undefined) return [`${name}: ${problem}`];
      if (isRecord(claim)) return [];
      if (places(text, claim.text).length === 0) return [`${name}: is stated no more`];
      const isOne =
        ["measured", "computed", "source", "counted"].includes(claim.kind) || stated(name).length <= 1;
      return isOne ? [] : [`${name}: holds several numbers`];
    });
    t.same(wrong, []);
  });
}

t.test("what the README says of others has its address and date among the claims", async (t) => {
  const addresses = [...page("README.md").text.matchAll(/^\[\w+\]: (https:\S+)$/gm)].map(
    ([, address]) => address,
  );
  const sources = (CLAIMS["README.md"] ?? []).map((claim) => (claim.kind === "source" ? claim.source : ""));
  t.ok(addresses.length > 0);
  t.same(
    addresses.filter((address = "") => !sources.includes(address)),
    [],
  );
});

t.test("a number, a ratio and a comparison are told from defaults, statuses and addresses", async (t) => {
  const told = (text: string): string[] => stated(flat({ path: "x.md", text })).map((one) => one.text);
  t.same(told("It takes 12 µs, 5x or 3 times or 40 % of 1 000 calls."), [
    "12 µs",
    "5x",
    "3 times",
    "40 %",
    "1 000 calls",
  ]);
  t.same(told("With < 5 ms for 100k calls it is three times faster, unlike other gateways, in -> 2 s."), [
    "5 ms",
    "100k calls",
    "times faster",
    "unlike other",
    "2 s",
  ]);
  t.same(told("Read in 0.3 to 0.6 ms by version 2.4.0."), ["0.3 to 0.6 ms", "2.4.0"]);
  t.same(told("It is faster than nginx, and no other gateway is."), ["faster than", "no other gateway"]);
  t.same(
    told(
      "RFC 9449 section 4.3 on TLS 1.3: HTTP 503 at port 8080, -32021, 2026-07-28, [0029](0029-x.md), `5 ms`.",
    ),
    [],
  );
  t.same(told("1. First\n2. Second\n\n```\n12 ms\n```\n"), []);
});

t.test("what is wrong with a claim is said", async (t) => {
  const wrong = (claim: object): string | undefined =>
    wrongWith({ text: "10,000 marks", ...claim } as Claim, "README.md");
  const file = "src/redemption/memory.ts";
  t.equal(
    wrong({ kind: "constant", file, code: "MAX_MARKS = 1_000_000" }),
    "the code says MAX_MARKS = 1_000_000",
  );
  t.equal(wrong({ kind: "constant", file, code: "MAX_MARKS = 1" }), `${file} has no MAX_MARKS = 1`);
  t.equal(
    wrong({ kind: "constant", file, code: "MAX_MARKS = 1_000_000", text: "a million: 1 000 000" }),
    undefined,
  );
  t.match(wrong({ kind: "setting", setting: "envelope.ttl", text: "10 s" }), /is 10m/);
  t.equal(wrong({ kind: "setting", setting: "envelope.ttl", text: "10 minutes" }), undefined);
  const measured = { kind: "measured", command: "npm run bench", result: "bench/results.md" };
  t.match(wrong({ ...measured, figures: ["123.45"] }), /has no 123.45/);
  t.match(wrong({ ...measured, figures: ["41"] }), /has no 41/, "part of a figure is none");
  t.equal(wrong({ ...measured, figures: ["41.2"] }), undefined);
  t.match(wrong({ ...measured, figures: ["41.2"], command: "npm run benchmark" }), /no script benchmark/);
  t.equal(wrong({ kind: "counted", counter: "rules", text: "7 rules" })?.startsWith("rules: "), true);
  t.equal(wrong({ kind: "computed", products: [[100, 90]], gives: 10000 }), "the products give 9000");
  t.equal(wrong({ kind: "source", source: "https://example.com", date: "lately" }), "no date");
});
