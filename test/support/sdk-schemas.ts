/** The SDK's schemas, put together for what a modern gateway may emit. */
import * as schemas from "@modelcontextprotocol/core";
import type { Test } from "tap";
import { z } from "zod";

export const COMPLETE = z.looseObject({ resultType: z.literal("complete") });
export const CACHE = z.looseObject({
  ttlMs: z.number().int().min(0),
  cacheScope: z.enum(["public", "private"]),
});
/** The schemas of the core package are those of all revisions together; here no question has an `elicitationId`. */
const QUESTION = z.union([
  z.object({
    method: z.literal("elicitation/create"),
    params: z.union([
      schemas.ElicitRequestFormParamsSchema,
      schemas.ElicitRequestURLParamsSchema.omit({ elicitationId: true }).strict(),
    ]),
  }),
  schemas.CreateMessageRequestSchema,
  schemas.ListRootsRequestSchema,
]);
export const INPUT_REQUIRED = schemas.ResultSchema.extend({
  resultType: z.literal("input_required"),
  requestState: z.string().startsWith("sg1."),
  inputRequests: z.record(z.string(), QUESTION).optional(),
  ttlMs: z.undefined().optional(),
  cacheScope: z.undefined().optional(),
});

/** Asserts that a value fits a schema; fails with the schema's own words. */
export function fits(t: Test, schema: z.ZodType, value: unknown): void {
  const { error } = schema.safeParse(value);
  t.equal(error === undefined ? "fits" : z.prettifyError(error), "fits", JSON.stringify(value)?.slice(0, 80));
}

/** Asserts that a value is a result message whose result fits every one of these. */
export function fitsResult(t: Test, message: unknown, ...kinds: z.ZodType[]): void {
  fits(t, schemas.JSONRPCResultResponseSchema, message);
  for (const kind of kinds) fits(t, kind, (message as { result: unknown }).result);
}
