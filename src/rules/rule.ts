/**
 * What a rule is. The catalogue of all rules is `catalogue.ts`; where they are judged is `journey.ts`.
 * Every check that is no state binding is a rule with an id and a mode. docs/rules.md.
 */

/** What becomes of a message that breaks a rule: it is acted on, noted and let pass, or not looked at. */
export type Mode = "enforce" | "report" | "off";
export const MODES: readonly Mode[] = ["enforce", "report", "off"];

/** What enforcing a rule does: the message is refused, dropped, or mended and passed on. */
export type Action = "refuse" | "drop" | "mend";

interface RuleText {
  /** The requirement, in one line. */
  readonly meaning: string;
  /** Page of the MCP 2026-07-28 specification; of the proposals (SEP) where it stands only there. */
  readonly page: string;
  readonly level: "MUST" | "SHOULD" | "schema";
  /** Whom the requirement binds. */
  readonly side: "client" | "server" | "gateway";
  /** Rows of the table in docs/rules.md that it answers; empty where the gateway asks more than the specification. */
  readonly rows: readonly number[];
  readonly action: Action;
}

/** A rule whose mode can be set. `mode` is its default. */
export interface SwitchableRule extends RuleText {
  readonly mode: Mode;
}

/** A rule that the gateway's own promises rest on. `core` says why it cannot be switched. */
export interface CoreRule extends RuleText {
  readonly core: string;
}

export type Rule = SwitchableRule | CoreRule;

/** One area of the catalogue. */
export type Rules = Readonly<Record<`${string}/${string}`, Rule>>;
