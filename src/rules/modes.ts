/** The modes in force: the catalogue's defaults, what the operator set, and what he set for single tools. Pure. */
import { firstFitting } from "../glob.ts";
import { defaultMode, isSwitchable, RULE_IDS, type RuleId, type SwitchableId } from "./catalogue.ts";
import type { Mode } from "./rule.ts";

/** The mode of every rule, for one request. Shared by all requests that it holds for. */
export type Modes = Readonly<Record<RuleId, Mode>>;

/** Modes that an operator set. */
export type SetModes = { readonly [Id in SwitchableId]?: Mode };

/** `rules` as configured: modes for all requests, and exceptions by tool, of which the first that matches decides. */
export type RuleSettings = SetModes & {
  readonly tools: readonly (SetModes & { readonly match: readonly string[] })[];
};

/**
 * Tool → the modes that hold for a call of it; undefined for requests that name no tool.
 * `hidden`: policy hides the tool. It is treated like a name that nobody has, which patterns fit and plain names do not.
 */
export type ModesByTool = (tool: string | undefined, hidden?: boolean) => Modes;

/** The modes where nobody set any. */
export const DEFAULT_MODES: Modes = Object.fromEntries(
  RULE_IDS.map((id) => [id, defaultMode(id)]),
) as unknown as Modes;

/** Compiles the settings of a route. Modes of core rules are not looked at, whoever wrote them. */
export function compileModes(settings: RuleSettings): ModesByTool {
  const { tools } = settings;
  const everywhere = withModes(DEFAULT_MODES, settings);
  if (tools.length === 0) return () => everywhere;
  const exception = firstFitting(tools.map((entry) => [entry.match, withModes(everywhere, entry)]));
  return (tool, hidden = false) => exception(tool, hidden) ?? everywhere;
}

function withModes(base: Modes, set: SetModes): Modes {
  const modes: Record<RuleId, Mode> = { ...base };
  for (const id of RULE_IDS) {
    if (!isSwitchable(id)) continue;
    const mode = set[id];
    if (mode !== undefined) modes[id] = mode;
  }
  return modes;
}
