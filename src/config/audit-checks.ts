/** Checks of the audit sinks against each other and the rest. Part of `cross-checks.ts`, pure like it. */
import type { Report, Sound } from "./report.ts";

/** See the file's header. @param given the names of the sections that stand in the file, sound or not */
export function checkAudit({ audit }: Sound, given: ReadonlySet<string>, report: Report): void {
  let streams = 0;
  for (const [index, { type }] of (audit?.sinks ?? []).entries()) {
    if (type !== "redis") continue;
    const path = ["audit", "sinks", index, "type"];
    streams += 1;
    if (!given.has("redis")) report.problem(path, "is redis, while there is no redis section");
    if (streams > 1) report.problem(path, "is redis a second time: there is one stream");
  }
}

/** Whether any sink needs the section `redis`. */
export const usesRedis = (audit: Sound["audit"]): boolean =>
  audit?.sinks.some(({ type }) => type === "redis") ?? false;
