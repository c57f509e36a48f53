/** What an admin record holds: its type, the published JSON Schema and the table in docs/audit.md come from here. */
import * as z from "zod";
import { id, instant, text, word } from "./members.ts";

/** A moment that may lie beyond the year 9999: of what never ends. */
const moment = () => z.string().regex(/^[-+\d]{10,13}T[\d:.]{12}Z$/);
const person = {
  issuer: text(2_048),
  subject: text(2_048),
  client: text(2_048).exactOptional(),
  tenant: text(2_048).exactOptional(),
};

const entry = z.strictObject({
  id: id().describe("Of the entry."),
  setAt: moment().exactOptional().describe("When it was set."),
  since: moment().exactOptional().describe("Of an approval: since when it waits or is remembered."),
  until: moment().describe("When it ends."),
  by: text(64).exactOptional().describe("Who did it, in their own words."),
  reason: text(256).exactOptional().describe("Why, in their own words."),
  bornBefore: moment().exactOptional().describe("Of a revocation: what began before is revoked."),
  chain: id()
    .exactOptional()
    .describe("The chain that is revoked, or in which an approval was given: `chain` of audit records."),
  principal: z.strictObject(person).exactOptional().describe("The caller it is about."),
  group: text(512).exactOptional().describe("Of a grant or denial: the group it is for."),
  route: text(512).exactOptional().describe("The path of the route."),
  tool: text(512).exactOptional().describe("Of a grant or denial: the pattern of tools."),
  capability: z
    .array(word())
    .max(4)
    .exactOptional()
    .describe("Of a grant or denial: what may be asked, or not."),
  effect: z.enum(["allow", "deny"]).exactOptional().describe("Of a grant or denial."),
  kind: z
    .enum(["tool", "prompt", "resource"])
    .exactOptional()
    .describe("Of an approval: what the call is aimed at."),
  target: text(8_192).exactOptional().describe("Of an approval: the name of that."),
  policies: z
    .array(text(64))
    .max(64)
    .exactOptional()
    .describe("Of an approval: ids of the policies that ask."),
  arguments: z
    .enum(["same", "any"])
    .exactOptional()
    .describe("Of an approval that is remembered: what it holds for."),
  code: text(64).exactOptional().describe("Of a call that waits: what people tell it by."),
  needs: z
    .record(z.string(), z.int())
    .exactOptional()
    .describe("Of a call that waits: how many people each policy wants, by its id."),
  approvedBy: z
    .array(z.union([z.strictObject(person), z.strictObject({ operator: text(64) })]))
    .max(16)
    .exactOptional()
    .describe("Of a call that waits: who has approved it before."),
});

/** The whole record, in the order in which it is explained. */
export const adminRecord = z.strictObject({
  type: z.literal("admin").describe("Tells a record from other lines."),
  time: instant().describe("When it was done, RFC 3339 in UTC."),
  requestId: text(128).describe("As in `X-Request-Id` of the answer."),
  address: text(64)
    .exactOptional()
    .describe("Where the request came from, unless the connection was gone by then."),
  action: z
    .enum([
      "revoke",
      "unrevoke",
      "grant",
      "ungrant",
      "approve",
      "deny",
      "forget",
      "signin",
      "signout",
      "unknown",
    ])
    .describe("What was done or tried; `unknown` where the token was refused before anybody looked."),
  outcome: z.enum(["done", "refused", "failed"]).describe("What came of it."),
  cause: z
    .enum(["token", "order", "full", "busy", "store_unavailable", "not_found", "origin", "attempts"])
    .exactOptional()
    .describe("Of what was refused or failed: why."),
  entry: entry.exactOptional().describe("What was set, taken back or decided."),
});
