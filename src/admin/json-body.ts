/** Bodies of the admin verbs: one small JSON object, read as strictly as those of clients. */
import type { FastifyInstance } from "fastify";
import { JsonError, scan } from "../json/scan.ts";
import { OrderRefused } from "../overrides/orders.ts";

export const MAX_BODY_BYTES = 16 * 1024;
const MAX_DEPTH = 8;

/** Lets a scope take JSON and nothing else. The parser throws OrderRefused for what is no JSON. */
export function addJsonParser(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    "application/json",
    { parseAs: "buffer", bodyLimit: MAX_BODY_BYTES },
    (_request, body, done) => {
      try {
        const doc = scan(body as Buffer, { bytes: MAX_BODY_BYTES, depth: MAX_DEPTH });
        done(null, doc.value(doc.root));
      } catch (error) {
        done(
          error instanceof JsonError ? new OrderRefused("the body is not one JSON object") : (error as Error),
        );
      }
    },
  );
}
