/** What may stand in a plan file, and its values as they are read. Files and variables that it names are not looked at here. */
import * as z from "zod";
import {
  duration,
  fileRef,
  flag,
  httpUrl,
  label,
  secretRef,
  sensitivity,
  some,
  text,
  whole,
} from "../config/fields.ts";

/** Bounds of what a plan may ask for; also of the options of the command. */
export const MAX_REQUESTS = 20_000;
export const MAX_RATE = 1_000;
export const MAX_WAIT_MS = 3_600_000;
export const MAX_TIMEOUT_MS = 600_000;

const object = () => z.record(z.string(), z.unknown(), { error: "a mapping" });
const words = (what: string) => text(what, 1_000);

const TARGET = "one of tool, prompt and resource";

/** `tool`, `prompt` or `resource`, with arguments: what is called. */
function aimed<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z
    .strictObject({
      tool: text("the name of a tool", 1_024).exactOptional(),
      prompt: text("the name of a prompt", 1_024).exactOptional(),
      resource: text("the uri of a resource", 8_192).exactOptional(),
      arguments: object().default({}),
      ...shape,
    })
    .superRefine((value, context) => {
      const given = ["tool", "prompt", "resource"].filter((name) => Object.hasOwn(value, name));
      if (given.length === 1) return;
      const message =
        given.length === 0 ? "says of nothing what to call" : `holds ${given.join(" and ")} at once`;
      context.addIssue({ code: "custom", message, params: { allowed: TARGET } });
    });
}

const answer = z.strictObject(
  { content: object().exactOptional(), result: object().exactOptional() },
  { error: "{ content: … } for a form, { result: … } for sampling or roots" },
);

const call = aimed({
  name: label(),
  otherArguments: object().exactOptional(),
  otherTarget: z
    .strictObject({ target: text("a name or uri", 8_192), arguments: object().default({}) })
    .exactOptional(),
  answers: z.record(z.string(), answer).default({}),
  complete: flag().default(false),
  maxRounds: whole(1, 100).exactOptional(),
  retryLimit: whole(1, 1_000).exactOptional(),
  expiry: duration(1_000, MAX_WAIT_MS).exactOptional(),
  consentSurface: words("where people are asked").exactOptional(),
  dataSensitivity: sensitivity().exactOptional(),
  sideEffects: words("what the call does").exactOptional(),
});

const principal = z.strictObject({ token: secretRef() });

/** The whole file. */
export const planSchema = z.strictObject({
  version: z.literal(1, { error: "1" }),
  endpoint: httpUrl({ query: true }),
  ca: fileRef().exactOptional(),
  principals: z
    .strictObject({ first: principal.exactOptional(), second: principal.exactOptional() })
    .default({}),
  effectProbe: aimed({}).exactOptional(),
  limits: z
    .strictObject({
      requests: whole(1, MAX_REQUESTS).default(2_000),
      perSecond: whole(1, MAX_RATE).default(10),
      timeout: duration(100, MAX_TIMEOUT_MS).default(30_000),
      wait: duration(0, MAX_WAIT_MS).default(0),
    })
    .prefault({}),
  calls: some(call),
});

/** As it is read. */
export type PlanFile = z.output<typeof planSchema>;
