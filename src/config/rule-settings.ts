/** Modes of rules, at the top of the file, in a route, and there for single tools. Their names are those of the catalogue. */
import * as z from "zod";
import { CATALOGUE, SWITCHABLE_IDS, type SwitchableId } from "../rules/catalogue.ts";
import { MODES, type Mode } from "../rules/rule.ts";
import { glob, list, some } from "./fields.ts";

const mode = z.enum(MODES as readonly [Mode, ...Mode[]]);
type ModeField = z.ZodExactOptional<typeof mode>;

/** One setting for each rule whose mode can be set; none has a default here, since that is the catalogue's. */
const modes = Object.fromEntries(
  SWITCHABLE_IDS.map((id) => [id, mode.exactOptional().describe(CATALOGUE[id].meaning)]),
) as Record<SwitchableId, ModeField>;

const toolModes = z.strictObject({
  match: some(glob()).describe("Patterns of tool names. The first entry that matches a tool decides."),
  ...modes,
});

const tools = list(toolModes).describe("Exceptions by tool.");

/** `rules` at the top of the file. */
export const rules = z.strictObject({ tools: tools.default([]), ...modes });

/** `rules` of a route: what is absent comes from the top. */
export const routeRules = z.strictObject({ tools: tools.exactOptional(), ...modes });
