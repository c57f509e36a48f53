/** The settings that stand both at the top of the file, for all routes, and in a route, for that route. */
import * as z from "zod";
import { duration, glob, list, some, whole } from "./fields.ts";

const HOUR = 3_600_000;

const ask = z.enum(["elicitation.form", "elicitation.url", "sampling", "roots"]);

const toolAsks = z.strictObject({
  match: some(glob()).describe("Patterns of tool names. The first entry that matches a tool decides."),
  allow: list(ask).describe("What a call of these tools may ask. Replaces capability.allow for them."),
});

const allow = list(ask).describe(
  "What servers may ask of clients. A question must be declared by the client and stand here.",
);
const tools = list(toolAsks).describe("Exceptions by tool.");

const maxRounds = whole(1, 1_000).describe("Rounds one request may take, counted before the user is asked.");
const maxAge = duration(1_000, 168 * HOUR).describe("Time from the first question to the last answer.");
const rejection = z
  .enum(["error", "tool-error", "reprompt"])
  .describe(
    "Answer to a retry whose state fails: a JSON-RPC error, a tool result with isError that a model can act on, or a fresh call so that the server asks again.",
  );
const answersWithoutState = z
  .enum(["refuse", "drop", "forward"])
  .describe(
    "Answers that come without a state: refuse them, drop them, or forward them (forward undoes binding).",
  );

/** `roundTrip` at the top of the file. */
export const roundTrip = z.strictObject({
  maxRounds: maxRounds.default(32),
  maxAge: maxAge.prefault("1h"),
  rejection: rejection.default("error"),
  answersWithoutState: answersWithoutState.default("refuse"),
});

/** `roundTrip` of a route: what is absent comes from the top. */
export const routeRoundTrip = z.strictObject({
  maxRounds: maxRounds.exactOptional(),
  maxAge: maxAge.exactOptional(),
  rejection: rejection.exactOptional(),
  answersWithoutState: answersWithoutState.exactOptional(),
});

/** `capability` at the top of the file. */
export const capability = z.strictObject({
  allow: allow.default(["elicitation.form", "elicitation.url", "sampling", "roots"]),
  tools: tools.default([]),
});

/** `capability` of a route: what is absent comes from the top. */
export const routeCapability = z.strictObject({
  allow: allow.exactOptional(),
  tools: tools.exactOptional(),
});
