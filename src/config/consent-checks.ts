/**
 * Policies with `effect: approve` that would ask about nothing. Whoever writes one relies on it, so what can never match what can be
 * asked about is a problem and no warning. Part of `policy-checks.ts`, pure like it.
 */
import { compileGlob } from "../glob.ts";
import { MRTR_METHODS } from "../mcp/methods.ts";
import type { Step } from "./json-schema.ts";
import { METHOD_TARGETS } from "./known-methods.ts";
import type { Report, Sound } from "./report.ts";
import type { Policy } from "./schema.ts";

const KINDS = { tool: "tools", prompt: "prompts", resource: "resources" } as const;
const ASKED = [...MRTR_METHODS].join(", ");

/** All checks of one policy. */
export function checkConsent(policy: Policy, path: readonly Step[], sections: Sound, report: Report): void {
  const { effect, when, arguments: tests } = policy;
  if (effect !== "approve") {
    for (const name of ["when", "approval"] as const) {
      if (policy[name] !== undefined && !report.lost([...path, "effect"]))
        report.problem([...path, name], `goes with effect: approve and no other, not with ${effect}`);
    }
    return;
  }
  if (report.lost(path)) return;
  const methods = [...MRTR_METHODS].filter(
    (method) => policy.methods?.some((pattern) => compileGlob(pattern)(method)) ?? true,
  );
  if (methods.length === 0) {
    report.problem([...path, "methods"], `fits nothing that a user can be asked about, allowed ${ASKED}`);
    return;
  }
  const named = Object.values(KINDS).filter((name) => policy[name] !== undefined);
  const carried = methods.filter((method) => {
    const [kind] = METHOD_TARGETS.get(method) ?? [];
    return named.length === 0 || (kind !== undefined && policy[KINDS[kind]] !== undefined);
  });
  if (carried.length === 0) {
    const names = named.join(" or ");
    report.problem(path, `asks about nothing: no call of ${methods.join(", ")} names ${names}`);
    return;
  }
  if (tests !== undefined && !carried.some((method) => method !== "resources/read")) {
    report.problem([...path, "arguments"], "asks about nothing: what reads a resource carries no arguments");
  }
  if (when === undefined) return;
  if (!carried.includes("tools/call")) {
    report.problem([...path, "when"], "asks about nothing: only tools have annotations");
  }
  const { authorization } = sections;
  if (authorization === undefined || report.lost(["authorization"])) return;
  const allowsAny = authorization.policies.some((other) => allows(other));
  if (authorization.default === "deny" && !allowsAny) {
    report.warning(
      [...path, "when"],
      "never matters: a policy with when allows nothing by itself, and no other does",
    );
  }
}

/** Whether a policy can let anybody use anything. What a server says of its tools never does. */
export const allows = ({ effect, when }: Policy): boolean =>
  effect === "allow" || (effect === "approve" && when === undefined);

/** Routes on which callers of older revisions are refused what they would have to be asked about. */
export function checkUnaskable({ authorization, routes }: Sound, report: Report): void {
  if (!(authorization?.policies ?? []).some(({ effect }) => effect === "approve")) return;
  for (const [index, { legacy }] of (routes ?? []).entries()) {
    if (legacy !== "pass") continue;
    report.warning(
      ["routes", index, "legacy"],
      "is pass, and clients of older revisions cannot be asked: calls that need approval are refused to them",
    );
  }
}
