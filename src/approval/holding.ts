/** Whether a yes holds for more calls, and how a question says so. Pure. */
import type { Principal } from "../principal/principal.ts";
import { type ApprovePolicy, settingsOf } from "./approve-policy.ts";

/** Whether policies remember this consent at all: every one of them, of a caller that can be told from others. */
export const areRemembering = (
  policies: readonly ApprovePolicy[],
  { principal }: { readonly principal: Pick<Principal, "anonymous"> },
): boolean =>
  policies.length > 0 &&
  !principal.anonymous &&
  policies
    .map(settingsOf)
    .every(({ remember, always, quorum }) => remember !== undefined && !always && quorum === undefined);

/** What people are told of it, the widest where policies differ; undefined where a yes is for one call only. */
export function holdingLine(
  policies: readonly ApprovePolicy[],
  call: { readonly principal: Pick<Principal, "anonymous"> },
): string | undefined {
  if (!areRemembering(policies, call)) return undefined;
  const all = policies.flatMap((policy) => settingsOf(policy).remember ?? []);
  const longest = Math.max(...all.map((one) => one.for));
  const anyArguments = all.some((one) => one.arguments === "any");
  return `A yes holds for ${timeOf(longest)}, for ${anyArguments ? "other arguments as well" : "this very call only"}.`;
}

function timeOf(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000);
  if (seconds % 3_600 === 0) return `${seconds / 3_600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
