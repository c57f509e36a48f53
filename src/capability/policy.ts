/**
 * What the configuration of a route says about questions: which kinds may be asked, and which a client has to be able to answer
 * before the server is called at all. Pure. What operators set at run time comes on top (overrides/).
 */
import type { Ask, Capability } from "../config/schema.ts";
import { Refusal } from "../errors.ts";
import { firstFitting } from "../glob.ts";
import { type Declared, missingCapabilities, type Need } from "../mcp/capabilities.ts";

/** The kind of question → what a client declares that can answer it. */
const NEEDS: Readonly<Record<Ask, Need>> = {
  "elicitation.form": "form",
  "elicitation.url": "url",
  sampling: "sampling",
  roots: "roots",
};

/** The compiled section `capability` of one route. */
export interface CapabilityPolicy {
  /** What the server may ask while it answers a call of `tool`. */
  allowedAsks(tool: string | undefined): ReadonlySet<Ask>;
  /**
   * What the client must have declared for a call of `tool`.
   * @param hidden policy hides the tool: it is treated like a name that nobody has, which patterns fit and plain names do not
   */
  requiredAsks(tool: string | undefined, hidden: boolean): readonly Ask[];
}

/** Compiles the section; the first entry of `tools` that fits decides, and what it leaves out is as for the route. */
export function compileCapability({ allow, requires, tools }: Capability): CapabilityPolicy {
  const everywhere = new Set(allow);
  const exception = firstFitting(
    tools.map((entry) => [
      entry.match,
      { allow: entry.allow && new Set(entry.allow), requires: entry.requires },
    ]),
  );
  return {
    allowedAsks: (tool) => exception(tool, false)?.allow ?? everywhere,
    requiredAsks: (tool, hidden) => exception(tool, hidden)?.requires ?? requires,
  };
}

/** @throws Refusal `missing_capability` with exactly what the client lacks of what is required */
export function checkRequired(required: readonly Ask[], declared: Declared): void {
  const requiredCapabilities = missingCapabilities(
    required.map((ask) => NEEDS[ask]),
    declared,
  );
  if (requiredCapabilities === undefined) return;
  throw new Refusal("missing_capability", "required", { data: { requiredCapabilities } });
}
