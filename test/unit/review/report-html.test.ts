/** The HTML report as a text: self-contained, without script, with a policy that says so, and nothing in it that a server wrote as markup. */
import { createHash } from "node:crypto";
import t from "tap";
import type { ReviewRecord } from "../../../src/review/record.ts";
import { htmlReport } from "../../../src/review/report/html.ts";
import { HOSTILE, hostileRecord, LONG, RECORD } from "./report-record.ts";
import { UNSEEN } from "./report-unseen.ts";

const ELEMENTS = new Set(
  "html head meta title style body header main footer nav section article div p h1 h2 h3 h4 ul ol li dl dt dd a span strong code pre bdi details summary figure figcaption svg g line path text".split(
    " ",
  ),
);
const ATTRIBUTES = new Set(
  "lang charset http-equiv content name class id href role aria-label aria-labelledby aria-hidden width height x y x1 x2 y1 y2 d overflow text-anchor".split(
    " ",
  ),
);

/** Everything between the style sheet and the end, as tags and texts. */
function tagsOf(
  html: string,
): readonly { readonly name: string; readonly attributes: readonly (readonly [string, string])[] }[] {
  const body = html.replace(/^<!doctype html>\n/, "").replace(/<style>[^<]*<\/style>/, "");
  const token = /<(\/?)([a-z][a-z0-9]*)((?: [a-z][a-z0-9-]*="[^"<>]*")*)\/?>|[^<>]+/gy;
  const tags = [];
  let at = 0;
  for (const { 0: text, 1: close, 2: name, 3: inner = "" } of body.matchAll(token)) {
    at += text.length;
    if (name === undefined || close === "/") continue;
    const attributes = [...inner.matchAll(/ ([a-z][a-z0-9-]*)="([^"]*)"/g)].map(
      ([, key = "", value = ""]) => [key, value] as const,
    );
    tags.push({ name, attributes });
  }
  if (at !== body.length) throw new Error(`at ${at}: ${body.slice(at, at + 60)}`);
  return tags;
}

t.test("made of a few elements and attributes only, whatever a server says", async (t) => {
  for (const [name, record] of Object.entries({
    RECORD,
    HOSTILE: hostileRecord(HOSTILE),
    LONG: hostileRecord(LONG),
  })) {
    const tags = tagsOf(htmlReport(record));
    t.same(
      [...new Set(tags.map((tag) => tag.name))].filter((one) => !ELEMENTS.has(one)),
      [],
      name,
    );
    const attributes = tags.flatMap((tag) => tag.attributes);
    t.same(
      [...new Set(attributes.map(([key]) => key))].filter((one) => !ATTRIBUTES.has(one)),
      [],
      name,
    );
    for (const [key, value] of attributes) {
      if (key === "href") t.match(value, /^#(?:(?:result|exchange|part)-\d+|fail|warn|untried)$/);
      if (key === "class" || key === "id") t.match(value, /^[a-z_ 0-9-]+$/);
    }
    const ids = attributes.filter(([key]) => key === "id").map(([, value]) => value);
    t.equal(new Set(ids).size, ids.length, "ids are unique");
    for (const [, value] of attributes.filter(([key]) => key === "href"))
      t.ok(ids.includes(value.slice(1)), value);
  }
});

t.test("the policy allows one style sheet, by its digest, and nothing else", async (t) => {
  const html = htmlReport(RECORD);
  const sheet = /<style>([^<]*)<\/style>/.exec(html)?.[1] ?? "";
  const digest = createHash("sha256").update(sheet).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
  t.match(html, `content="${policy.replaceAll("'", "&#39;")}"`);
  t.ok(html.indexOf("Content-Security-Policy") < html.indexOf("<style>"), "before it");
  t.notMatch(sheet, /url\(|@import|@font-face|expression/i);
  t.notMatch(html, /<script|javascript:|https?:\/\/(?!127\.0\.0\.1)/);
});

t.test("nothing unseen, and bounded", async (t) => {
  for (const text of [HOSTILE, LONG]) {
    const html = htmlReport(hostileRecord(text));
    t.notMatch(html.replaceAll("\n", ""), UNSEEN);
    t.ok(html.length < 500_000, `${html.length}`);
  }
});

t.test("the conclusion, what failed and what was not established stand before the first call", async (t) => {
  const html = htmlReport(RECORD);
  const first = html.indexOf('id="part-1"');
  for (const text of [
    "1 of 9 checks on 2 targets failed; 1 came to no result",
    "What failed",
    "What could not be established, and why",
    "The probe of effects gave no answer, so nobody can tell whether the call ran.",
    "The plan does not allow to wait for the expiry.",
    "The tool close-account is not called.",
  ]) {
    const at = html.indexOf(text);
    t.ok(at > 0 && at < first, text);
  }
});

t.test(
  "each check: verdict, what was sent, what came back, clause and advice; each exchange in full once",
  async (t) => {
    const html = htmlReport(RECORD);
    const article = html.slice(
      html.indexOf('id="result-2"'),
      html.indexOf("</article>", html.indexOf('id="result-2"')),
    );
    for (const text of [
      "fail",
      "A tampered state is refused",
      "state/tampered",
      "retry with one bit of the state turned",
      "tools/call transfer with requestState and inputResponses",
      "HTTP 200: complete",
      "MUST",
      "must not act on one that they did not write",
      "basic/patterns/mrtr",
      "Protect the state with an authenticated cipher",
      "acct-4",
      "mcp-protocol-version: 2026-07-28",
    ])
      t.ok(article.includes(text), text);
    for (const { number } of RECORD.exchanges)
      t.equal(html.split(`id="exchange-${number}"`).length, 2, `#${number}`);
  },
);

t.test(
  "odd records: nothing at all, no map, an exchange that is not there, a call that is not there",
  async (t) => {
    const [one, two] = RECORD.results;
    const call = RECORD.calls[0];
    if (one === undefined || two === undefined || call === undefined) return void t.fail();
    const odd: readonly ReviewRecord[] = [
      { ...RECORD, calls: [], results: [], exchanges: [] },
      { ...RECORD, calls: [{ ...call, map: [] }] },
      {
        ...RECORD,
        calls: [
          {
            ...call,
            map: Array.from({ length: 500 }, () => ({
              kind: "retry" as const,
              exchange: 1,
              ends: "none" as const,
            })),
          },
        ],
      },
      {
        ...RECORD,
        results: [
          { ...one, exchanges: [99, 1, 1] },
          { ...two, call: "another" },
        ],
      },
    ];
    for (const record of odd) tagsOf(htmlReport(record));
    t.match(htmlReport(odd[0] as ReviewRecord), /Nothing established[\s\S]*No check was carried out at all/);
    t.match(htmlReport(odd[1] as ReviewRecord), "there is nothing to draw");
    t.match(htmlReport(odd[2] as ReviewRecord), "460 more steps are not drawn");
    t.match(htmlReport(odd[3] as ReviewRecord), "another");
  },
);

t.test("calls that no check was tried on are named where people look first", async (t) => {
  const [call] = RECORD.calls;
  if (call === undefined) return void t.fail();
  const html = htmlReport({ ...RECORD, calls: [...RECORD.calls, { ...call, name: "weather <b>" }] });
  const at = html.indexOf("weather &#60;b&#62;");
  t.ok(at > 0 && at < html.indexOf('id="part-1"'));
  t.equal(html.includes('id="part-3"'), false, "and have no part of their own");
  const all = RECORD.results.filter(({ verdict }) => verdict === "pass");
  t.match(htmlReport({ ...RECORD, results: all }), "Nothing: every check was tried and came to a result.");
});

t.test("a server that asks for very much is drawn within bounds", async (t) => {
  const [call] = RECORD.calls;
  if (call === undefined) return void t.fail();
  const fields = Array.from({ length: 50 }, (_, at) => ({
    name: `${at}${LONG}`,
    type: LONG,
    required: false,
  }));
  const questions = Array.from({ length: 400 }, (_, at) => ({ key: `${at}`, kind: "form" as const, fields }));
  const step = { kind: "retry" as const, exchange: 1, ends: "input_required" as const, questions };
  const html = htmlReport({ ...RECORD, calls: [{ ...call, map: Array.from({ length: 60 }, () => step) }] });
  t.ok(html.length < 500_000, `${html.length}`);
  t.match(html, "… and 20392 more");
});

t.test("messages in full have an end, and the lines about them none", async (t) => {
  const [one] = RECORD.exchanges;
  const [result] = RECORD.results;
  if (one === undefined || result === undefined) return void t.fail();
  const message = { method: "tools/call", params: Array.from({ length: 2_000 }, () => "text") };
  const exchanges = Array.from({ length: 1_500 }, (_, at) => ({
    ...one,
    number: at + 1,
    sent: { headers: {}, message },
  }));
  const html = htmlReport({
    ...RECORD,
    exchanges,
    results: [{ ...result, exchanges: exchanges.map(({ number }) => number) }],
  });
  t.ok(html.length < 10_000_000, `${html.length}`);
  t.match(html, "#1500<");
  t.match(html, "In full in the JSON report only");
  tagsOf(html);
});

t.test("backticks in our own sentences make code, and in a server's nothing worse", async (t) => {
  const [one] = RECORD.results;
  if (one === undefined) return void t.fail();
  const html = htmlReport({
    ...RECORD,
    results: [{ ...one, advice: "Take `cancel` for a no, `", words: "`<b>` `x" }],
  });
  t.match(html, "Take <code>cancel</code> for a no, `</bdi>");
  t.match(html, "<code>&#60;b&#62;</code> `x</bdi>");
});
