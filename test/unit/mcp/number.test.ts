/** Numbers of JSON by their exact value, held against whole numbers of any size. */
import fc from "fast-check";
import t from "tap";
import {
  compareNumbers,
  isWhole,
  JsonNumber,
  numberText,
  parseExact,
  sameNumber,
} from "../../../src/mcp/number.ts";

const digits = (least: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(..."00123456789"), minLength: least, maxLength: 24 });

/** Numbers with few different digits, so that equal ones are met. */
const near = fc.constantFrom(
  "0",
  "-0",
  "0.0",
  "1",
  "1.0",
  "10e-1",
  "0.1e1",
  "100",
  "1e2",
  "-1",
  "-1.00",
  "0.5",
  "5e-1",
  "1.5",
);

const any = fc
  .tuple(fc.constantFrom("", "-"), digits(1), digits(0), fc.integer({ min: -30, max: 30 }), fc.boolean())
  .map(([sign, whole, fraction, exponent, spelled]) => {
    const start = whole.replace(/^0+(?=.)/, "");
    return `${sign}${start}${fraction === "" ? "" : `.${fraction}`}${spelled ? `e${exponent}` : ""}`;
  });
const number = fc.oneof(any, near);

/** The number times ten to the hundredth, which is whole here. */
function scaled(text: string): bigint {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e(-?\d+))?$/.exec(text) ?? [];
  const value = BigInt(whole + fraction) * 10n ** BigInt(100 - fraction.length + Number(exponent));
  return sign === "-" ? -value : value;
}

t.test("order, equality and wholeness are those of exact numbers", async (t) => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      const [left, right] = [scaled(a), scaled(b)];
      const order = left < right ? -1 : left > right ? 1 : 0;
      return (
        Math.sign(compareNumbers(a, b)) === order &&
        sameNumber(a, b) === (order === 0) &&
        isWhole(a) === (left % 10n ** 100n === 0n)
      );
    }),
    { numRuns: 5_000 },
  );
  t.pass();
});

t.test("exponents past any use cost nothing and are equal to nothing but themselves", async (t) => {
  const huge = `1e${"9".repeat(100_000)}`;
  t.equal(compareNumbers(huge, "1e308"), Number.POSITIVE_INFINITY);
  t.ok(compareNumbers(`-${huge}`, "0") < 0);
  t.ok(compareNumbers(`1e-${"9".repeat(50)}`, "0") > 0);
  t.equal(sameNumber(huge, huge), true);
  t.equal(sameNumber(huge, `${huge}9`), false);
  t.equal(sameNumber("0e99999999999999999999", "0"), true);
  t.equal(sameNumber("1e00000000000000000002", "100"), true);
  t.ok(Number.isNaN(compareNumbers("x", "1")));
});

t.test("parsing keeps every digit", async (t) => {
  const text = '{"a":[1.10,12345678901234567890],"b":"1"}';
  t.same(parseExact(text), { a: [new JsonNumber("1.10"), new JsonNumber("12345678901234567890")], b: "1" });
  t.same([new JsonNumber("1.10"), 1.5, "1", null, Number.NaN].map(numberText), [
    "1.10",
    "1.5",
    undefined,
    undefined,
    undefined,
  ]);
  t.throws(() => parseExact("{"), SyntaxError);
});
