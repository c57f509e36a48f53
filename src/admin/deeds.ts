/** Puts on record what is done on the admin listener. */
import type { FastifyRequest } from "fastify";
import type { AdminAction, AdminRecord } from "../audit/admin-record.ts";
import { optional } from "../optional.ts";

/** Writes one record: `done`, unless `rest` says otherwise. */
export type RecordDeed = (request: FastifyRequest, action: AdminAction, rest: Partial<AdminRecord>) => void;

/** @param now milliseconds since the epoch */
export const deedRecorder =
  (audit: { write(record: AdminRecord): void }, now: () => number): RecordDeed =>
  ({ id: requestId, ip }, action, rest) =>
    audit.write({
      type: "admin",
      time: new Date(now()).toISOString(),
      requestId,
      // It is none once the connection is gone, whatever its type says.
      ...optional("address", ip as string | undefined),
      action,
      outcome: "done",
      ...rest,
    });
