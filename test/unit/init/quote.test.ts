/** Names of a server in YAML: they come back as they were, stand on one line, and show what they are. */
import fc from "fast-check";
import t from "tap";
import { parse } from "yaml";
import { readDocument } from "../../../src/config/document.ts";
import { quote } from "../../../src/init/quote.ts";

t.test("every text comes back from YAML as it was, and from the reader of the configuration", async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      const quoted = quote(text);
      if (quoted.includes("\n")) return false;
      const doc = readDocument(Buffer.from(`a:\n  - ${quoted}\nb: 1\n`));
      return parse(quoted) === text && JSON.stringify(doc.value) === JSON.stringify({ a: [text], b: 1 });
    }),
    { numRuns: 2_000 },
  );
  t.pass();
});

t.test("nothing leaves its quotes, its line or its comment, and what does not show is escaped", async (t) => {
  t.equal(quote('a"\n- b: "c'), '"a\\"\\u000a- b: \\"c"');
  t.equal(quote("a\\"), '"a\\\\"');
  t.equal(quote("a\u2028b\u0085c\r\0"), '"a\\u2028b\\u0085c\\u000d\\u0000"');
  t.equal(quote("pay\u202egnp"), '"pay\\u202egnp"', "no change of direction");
  t.equal(quote("pay\u200b\ufeff\u00ad\u3164"), '"pay\\u200b\\ufeff\\u00ad\\u3164"', "nothing without width");
  t.equal(quote("e\u0301\u00a0"), '"e\\u0301\\u00a0"', "no mark that joins, no other blank");
  t.equal(
    quote("Zo\u00eb \u2615 \u4f60 \u{1f511} \u{e0041}"),
    '"Zo\u00eb \u2615 \u4f60 \u{1f511} \\U000e0041"',
  );
});
