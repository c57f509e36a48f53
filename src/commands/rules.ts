/** `sealgate rules`: the catalogue with the modes in force, as a table, as JSON, or as the page of the docs. */
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/schema.ts";
import { readConfig } from "../config/without-files.ts";
import { CATALOGUE, defaultMode, isSwitchable, RULE_IDS, type RuleId } from "../rules/catalogue.ts";
import { rulesDocument } from "../rules/document.ts";
import { compileModes, DEFAULT_MODES, type Modes } from "../rules/modes.ts";
import { EXIT } from "./exit.ts";
import { tableLines } from "./text-table.ts";
import { UsageError } from "./usage-error.ts";

/** What of the catalogue is asked for. */
export interface RulesOptions {
  readonly config: string | undefined;
  /** Path of one route; without it the modes at the top of the file, and where routes differ. */
  readonly route: string | undefined;
  readonly tool: string | undefined;
  readonly form: "table" | "json" | "markdown";
}

/** One rule with its modes. */
interface Shown {
  readonly id: RuleId;
  readonly mode: string;
  readonly default: string;
  /** Routes where another mode is in force. */
  readonly routes: Readonly<Record<string, string>>;
  /** Entries of `rules.tools` that set this rule; `route` where they are of one route. */
  readonly tools: readonly {
    readonly match: readonly string[];
    readonly mode: string;
    readonly route?: string;
  }[];
}

/**
 * Prints the rules. Without a configuration the defaults.
 * @returns the exit code 0
 * @throws ConfigError, ConfigFileError, UsageError
 */
export async function rules(options: RulesOptions): Promise<number> {
  process.stdout.write(options.form === "markdown" ? rulesDocument() : await printed(options));
  return EXIT.ok[0];
}

async function printed(options: RulesOptions): Promise<string> {
  const shown = await modesShown(options);
  if (options.form === "json") {
    const entries = shown.map(({ id, ...modes }) => {
      const { core, ...rule } = { core: undefined, ...CATALOGUE[id] };
      return { id, ...rule, core: core ?? false, ...modes };
    });
    return `${JSON.stringify(entries, undefined, 2)}\n`;
  }
  const lines = shown.map(({ id, mode, default: usual, routes, tools }) => {
    const elsewhere = Object.entries(routes).map(([path, other]) => `${path}: ${other}`);
    const exceptions = tools.map(({ match, mode: other, route }) => {
      return `${route === undefined ? "" : `${route} `}${match.join("|")}: ${other}`;
    });
    return [id, mode, usual === mode ? "" : usual, elsewhere.join(", "), exceptions.join(", ")];
  });
  const heading = ["RULE", "MODE", "DEFAULT", "ROUTES THAT DIFFER", "TOOLS THAT DIFFER"];
  return `${tableLines([heading, ...lines]).join("\n")}\n`;
}

async function modesShown({ config: file, route, tool }: RulesOptions): Promise<Shown[]> {
  const config = file === undefined ? undefined : (await readConfig(file)).config;
  const { modes, others } = modesOf(config, route, tool);
  const exceptions = config === undefined || tool !== undefined ? [] : exceptionsOf(config, route);
  return RULE_IDS.map((id) => {
    const differing = others.filter((other) => other.modes[id] !== modes[id]);
    return {
      id,
      mode: "core" in CATALOGUE[id] ? "core" : modes[id],
      default: "core" in CATALOGUE[id] ? "core" : defaultMode(id),
      routes: Object.fromEntries(differing.map((other) => [other.path, other.modes[id]])),
      tools: exceptions.flatMap(({ entry, ...where }) => {
        const mode = isSwitchable(id) ? entry[id] : undefined;
        return mode === undefined ? [] : [{ match: entry.match, mode, ...where }];
      }),
    };
  });
}

type Exceptions = Config["rules"]["tools"];

/** Exceptions by tool at the top or of the route asked for, and of other routes those of their own. */
function exceptionsOf(
  { rules: top, routes }: Config,
  route: string | undefined,
): readonly { readonly entry: Exceptions[number]; readonly route?: string }[] {
  if (route !== undefined) {
    const chosen = routes.find(({ path }) => path === route)?.rules.tools ?? [];
    return chosen.map((entry) => ({ entry }));
  }
  const own = routes.filter(({ rules }) => !isDeepStrictEqual(rules.tools, top.tools));
  return [
    ...top.tools.map((entry) => ({ entry })),
    ...own.flatMap(({ path, rules: { tools } }) => tools.map((entry) => ({ entry, route: path }))),
  ];
}

interface InForce {
  readonly modes: Modes;
  readonly others: readonly { readonly path: string; readonly modes: Modes }[];
}

function modesOf(config: Config | undefined, route: string | undefined, tool: string | undefined): InForce {
  if (config === undefined) return { modes: DEFAULT_MODES, others: [] };
  const of = (rules: Config["rules"]): Modes => compileModes(rules)(tool);
  if (route === undefined) {
    const others = config.routes.map((one) => ({ path: one.path, modes: of(one.rules) }));
    return { modes: of(config.rules), others };
  }
  const chosen = config.routes.find(({ path }) => path === route);
  if (chosen === undefined) {
    throw new UsageError(`--route is none of ${config.routes.map(({ path }) => path).join(", ")}`);
  }
  return { modes: of(chosen.rules), others: [] };
}
