/** The numbers and comparisons that a page states (docs/decisions/0038-claims.md): what docs/claims.json has to answer for. */
import { type Page, prose } from "./markdown.ts";

/** Something stated: its own text, and where it stands in the flat text of its page. */
export interface Stated {
  readonly text: string;
  readonly at: number;
}

const NUMBER = String.raw`(?<![\w.,#§/⁰-₟-])\d+(?:[ ,]\d{3})*(?:\.\d+)?(?:(?: to | and |–)\d+(?:[ ,]\d{3})*(?:\.\d+)?)?`;
const TIME = "µs|ms|s|seconds?|min|minutes?|hours?|days?|weeks?";
const SIZE = "bytes?|B|kB|KB|MB|GB|KiB|MiB|GiB|bits?|characters?";
const RATIO = "%|×|x|percent|times|fold";
const COUNTED =
  "tests?|cases|checks|scenarios|rules|requirements|vectors|attacks|alerts?|languages|million|marks|spans|states|rounds|requests|calls|streams|connections|nonces|lines";

/** A figure with a unit, a ratio, or a word for what was counted; in digits. */
const MEASURED = new RegExp(`${NUMBER}[kM]?[ -]?(?:${TIME}|${SIZE}|${RATIO}|${COUNTED})(?![\\w/])`, "g");
/** A number so large that it is written in groups is a count, whatever follows. */
const GROUPED = /(?<![\w.,#-])\d{1,3}(?:[ ,]\d{3})+(?!\d)/g;
/** The version of a product; those of standards are their names. */
const VERSION =
  /(?<!(?:TLS|OAuth|JSON-RPC|HTTP|OTLP|SARIF|Apache|section|sections|SemVer|Apache-) ?-?)(?<![\w.,×µ-])\d+\.\d+(?:\.\d+)?(?:-[a-z]+[.\d]*)?(?![\w.]*\d)(?! ?(?:×|%|µs|[kKMG]i?B|s\b|ms\b|minutes))/g;
/** Ratios and comparisons in words. */
const COMPARED =
  /\b(?:no other (?:gateway|proxy|product|server)|the (?:fastest|first|only) (?:gateway|proxy)|(?:faster|slower|cheaper|dearer|safer) than|(?:twice|half|two|three|four|five|ten) (?:times )?as (?:fast|slow|dear|cheap)|times (?:faster|slower|cheaper|dearer|smaller|larger)|unlike (?:all |any |most )?other|more than \w+ languages)/gi;

/**
 * The prose of a page in one line: no fenced blocks, comments or addresses; code spans are emptied, which keeps settings,
 * commands and example values out.
 */
export const flat = (page: Page): string =>
  prose(page)
    .replaceAll(/<[/!]?[a-z-][^>]*>|^\[[^\]]+\]: \S+$/gm, "")
    .replaceAll(/`[^`]*`/g, "``")
    .replaceAll(/\]\([^)\s]*\)/g, "]")
    .replaceAll(/\s+/g, " ");

/** What a flat text states, in its order; parts of one another are told once, by the longest. */
export function stated(text: string): Stated[] {
  const found = [MEASURED, GROUPED, VERSION, COMPARED].flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => ({ text: match[0], at: match.index })),
  );
  const covers = (one: Stated, other: Stated): boolean =>
    one !== other &&
    one.at <= other.at &&
    one.at + one.text.length >= other.at + other.text.length &&
    (one.text.length > other.text.length || found.indexOf(one) < found.indexOf(other));
  return found.filter((one) => !found.some((other) => covers(other, one))).sort((a, b) => a.at - b.at);
}
