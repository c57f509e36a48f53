/** `authorization.policies[].arguments`: what a policy asks of the arguments of a call. */
import * as z from "zod";
import { field, flag, glob, some } from "./fields.ts";

/** Claims of the caller that an argument can be compared with. */
export const COMPARED_CLAIMS = ["issuer", "subject", "client", "tenant", "groups", "scopes"] as const;

const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?$/;
/** Digits of a number that YAML readers keep. */
const KEPT_DIGITS = 15;
const MAX_TEXT = 4_096;

/** A number as its JSON text. */
export interface ExactNumber {
  readonly number: string;
}

const numberText = field<string>("a number as JSON has it", (text, refuse) =>
  text.length <= 128 && NUMBER.test(text) ? text : refuse("is not a number"),
);

const plainNumber = z
  .number({ error: "a number of at most 15 digits" })
  .transform((value, context): string => {
    const text = String(value);
    const digits = text.replace(/e.*$/, "").replace(/[-.]/g, "").replace(/^0+/, "");
    if (digits.length <= KEPT_DIGITS) return text;
    context.addIssue({
      code: "custom",
      message: "has more digits than a reader of YAML keeps",
      params: { allowed: "at most 15 digits; a longer one in quotes, as a bound of range" },
    });
    return z.NEVER;
  });

const bound = z.union([plainNumber, numberText], {
  error: "a number of at most 15 digits, or a longer one in quotes",
});

const scalar = z.union(
  [
    z.string().max(MAX_TEXT),
    z.boolean(),
    z.null(),
    plainNumber.transform((number): ExactNumber => ({ number })),
  ],
  {
    error:
      "a text, a number of at most 15 digits, true, false or null; a longer number as both bounds of range",
  },
);

const pointer = field<string>(
  "a JSON Pointer into the arguments, such as /path or /order/amount (~1 for a slash in a name, ~0 for a tilde)",
  (text, refuse) => {
    if (!text.startsWith("/")) return refuse("does not start with /");
    if (text.length > 512) return refuse("is longer than 512 characters");
    if (/~(?![01])/.test(text)) return refuse("holds a ~ that is neither ~0 nor ~1");
    return text.split("/").length > 33 ? refuse("has more than 32 steps") : text;
  },
);

const patterns = z.union([glob().transform((one) => [one]), some(glob())], {
  error: "a pattern (* any run of characters, ? one character), or a list of patterns",
});

const range = z
  .strictObject({
    min: bound.exactOptional().describe("Least number, itself included."),
    max: bound.exactOptional().describe("Greatest number, itself included."),
  })
  .meta({ anyOf: [{ required: ["min"] }, { required: ["max"] }] });

const TESTS = ["equals", "oneOf", "glob", "range", "present", "claim"] as const;

/** One entry: where, and one test. */
export const argumentTest = z
  .strictObject({
    path: pointer.describe("Where: a JSON Pointer (RFC 6901). A list stands for each of its entries."),
    equals: scalar.exactOptional().describe("The value, of the same type. Numbers by their exact value."),
    oneOf: some(scalar).exactOptional().describe("One of these values."),
    glob: patterns.exactOptional().describe("Patterns of texts."),
    range: range.exactOptional().describe("Numbers between two bounds."),
    present: flag().exactOptional().describe("Whether it is there at all, and not null."),
    claim: z
      .enum(COMPARED_CLAIMS)
      .exactOptional()
      .describe("The caller's own: equal to it, or among the groups or scopes."),
  })
  .meta({ oneOf: TESTS.map((name) => ({ required: [name] })) })
  .transform((value, context) => {
    const given = TESTS.filter((name) => Object.hasOwn(value, name));
    if (given.length === 1) return value;
    const message =
      given.length === 0 ? "holds neither of the tests" : `holds ${given.join(" and ")} at once`;
    context.addIssue({ code: "custom", message, params: { allowed: `path and one of ${TESTS.join(", ")}` } });
    return z.NEVER;
  });
