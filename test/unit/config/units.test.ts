import fc from "fast-check";
import t from "tap";
import {
  parseDuration,
  parseInstant,
  parseSize,
  printDuration,
  printSize,
} from "../../../src/config/units.ts";

t.test("durations", async (t) => {
  const good: [string, number][] = [
    ["0s", 0],
    ["500ms", 500],
    ["10s", 10_000],
    ["10m", 600_000],
    ["1h", 3_600_000],
  ];
  for (const [text, ms] of good) t.equal(parseDuration(text), ms, text);
  const bad = [
    "",
    "10",
    "s",
    "10 s",
    " 10s",
    "10s ",
    "10s\n",
    "1.5s",
    "-1s",
    "+1s",
    "1e3s",
    "010s",
    "0x1s",
    "10S",
    "10sec",
    "1d",
    "1h30m",
    "99999999999999s",
    "9999999999999999999999ms",
    "١s",
  ];
  for (const text of bad) t.equal(parseDuration(text), undefined, JSON.stringify(text));
});

t.test("sizes", async (t) => {
  const good: [string, number][] = [
    ["0B", 0],
    ["512B", 512],
    ["16KiB", 16_384],
    ["4MiB", 4_194_304],
    ["1GiB", 1_073_741_824],
  ];
  for (const [text, bytes] of good) t.equal(parseSize(text), bytes, text);
  const bad = [
    "",
    "16",
    "16K",
    "16KB",
    "16kib",
    "16 KiB",
    "1.5MiB",
    "-1B",
    "01B",
    "999999999999GiB",
    "16KiB\n",
  ];
  for (const text of bad) t.equal(parseSize(text), undefined, JSON.stringify(text));
});

t.test("what is printed reads back to the same number", async () => {
  fc.assert(fc.property(fc.nat(1_000_000_000), (n) => parseDuration(printDuration(n)) === n));
  fc.assert(fc.property(fc.nat(1_000_000_000), (n) => parseSize(printSize(n)) === n));
});

t.test("times", async (t) => {
  const good: [string, string][] = [
    ["2026-12-01T09:00:00Z", "2026-12-01T09:00:00.000Z"],
    ["2026-12-01T09:00:00+01:00", "2026-12-01T08:00:00.000Z"],
    ["2026-12-31T23:30:00-05:30", "2027-01-01T05:00:00.000Z"],
    ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
  ];
  for (const [text, iso] of good)
    t.equal(new Date((parseInstant(text) ?? 0) * 1000).toISOString(), iso, text);
  const bad = [
    ...["", "2026-12-01", "2026-12-01T09:00Z", "2026-12-01T09:00:00", "2026-12-01T09:00:00z", "1796051096"],
    ...["2026-02-29T00:00:00Z", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-12-01T24:00:00Z"],
    ...["2026-12-01T09:60:00Z", "2026-12-01T09:00:60Z", "2026-12-01T09:00:00+25:00", "2026-12-01 09:00:00Z"],
    ...["2026-12-01T09:00:00.5Z", "+2026-12-01T09:00:00Z", "2026-12-01T09:00:00Z\n", "1999-12-01T09:00:00Z"],
  ];
  for (const text of bad) t.equal(parseInstant(text), undefined, JSON.stringify(text));
});
