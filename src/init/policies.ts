/** The section `authorization`, written from what a server offers. Pure: a catalogue in, lines of YAML out. */
import type { Catalogue, ListName } from "./catalogue.ts";
import { quote } from "./quote.ts";
import { type Oddity, type Selection, select } from "./selection.ts";
import { templatePattern } from "./template-pattern.ts";

/** The text, and what the operator should hear besides. */
export interface PolicyText {
  readonly lines: readonly string[];
  /** Whether any policy in force allows anything. */
  readonly allows: boolean;
  /** Tools that the server itself says may change something: they wait for the operator. */
  readonly marked: number;
  /** Names that are in no list, since a pattern would not mean them alone. */
  readonly odd: number;
  readonly twins: number;
  /** Lists that are not whole. */
  readonly cut: ReadonlySet<ListName>;
}

/** Characters of names that are written, all in all; what is more would make a file that is too large to be read. */
const MAX_CHARACTERS = 262_144;
/** Names that a comment shows of each kind. */
const MAX_SHOWN = 20;

const ODDITIES: Readonly<Record<Oddity, string>> = {
  wildcard: "hold * or ?, which patterns read as any characters",
  unprintable: "are empty or hold control characters",
  long: "are longer than 512 characters",
  foreign: "look like a regular expression",
};

/** Writes the section. */
export function policyText(catalogue: Catalogue): PolicyText {
  const take = withRoom(MAX_CHARACTERS);
  const cut = new Set(catalogue.cut);
  const chosen = (list: ListName): Selection => {
    const selection = select(catalogue[list], list === "resources");
    const [plain, marked] = [take(selection.plain), take(selection.marked)];
    if (plain.length + marked.length < selection.plain.length + selection.marked.length) cut.add(list);
    return { ...selection, plain, marked };
  };
  const [tools, prompts, resources] = [chosen("tools"), chosen("prompts"), chosen("resources")];
  const completion = catalogue.completions ? ", completion/complete" : "";
  const policies = [
    ...policy("tools", "tools/call", "tools", tools.plain, [
      "The tools that the server offered. A tool that it adds later is refused until it stands here.",
    ]),
    ...policy("prompts", `prompts/get${completion}`, "prompts", prompts.plain, [
      "The prompts that it offered.",
    ]),
    ...policy("resources", "resources/read", "resources", resources.plain, [
      "The resources that it offered.",
    ]),
  ];
  const patterns = [
    ...new Set(catalogue.templates.flatMap(({ name }) => templatePattern(name) ?? [])),
  ].sort();
  const waiting = [...markedPolicy(tools.marked), ...templatePolicy(take(patterns), completion)];
  const selections = [tools, prompts, resources];
  const notes = selections.flatMap((selection) => [...oddLines(selection), ...twinLines(selection)]);
  return {
    lines: [
      "## What callers may use. Nothing may be used unless a policy says so; a deny wins over every allow.",
      "## Patterns: * any run of characters, ? one character.",
      "authorization:",
      "  default: deny",
      ...(policies.length === 0 ? ["  policies: []"] : ["  policies:", ...policies]),
      ...waiting,
      ...notes,
      ...[...cut].map(
        (list) => `    ## Not everything under ${list} could be read or written here: the list is cut.`,
      ),
    ],
    allows: policies.length > 0,
    marked: tools.marked.length,
    odd: selections.reduce((sum, { odd }) => sum + [...odd.values()].flat().length, 0),
    twins: selections.reduce((sum, { twins }) => sum + twins.length, 0),
    cut,
  };
}

/** Takes names while there is room; what is left out is refused by the gateway, so this errs on the safe side. */
function withRoom(characters: number): (names: readonly string[]) => readonly string[] {
  let left = characters;
  return (names) =>
    names.filter((name) => {
      left -= quote(name).length + 12;
      return left >= 0;
    });
}

function policy(
  id: string,
  methods: string,
  selector: string,
  names: readonly string[],
  words: readonly string[],
): readonly string[] {
  if (names.length === 0) return [];
  return [
    ...words.map((line) => `    ## ${line}`),
    `    - id: ${id}`,
    "      effect: allow",
    `      methods: [${methods}]`,
    `      ${selector}:`,
    ...names.map((name) => `        - ${quote(name)}`),
  ];
}

const inactive = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => (line.startsWith("    ##") ? line : line.replace(/^ {4}/, "    #")));

function markedPolicy(names: readonly string[]): readonly string[] {
  return inactive(
    policy("tools-with-effects", "tools/call", "tools", names, [
      "Tools that may change something, by the server's own word (annotations). You decide: take the # away from the first",
      "four lines and from each tool that callers may use. If there is nothing above, policies must not be [] then.",
    ]),
  );
}

function templatePolicy(patterns: readonly string[], completion: string): readonly string[] {
  return inactive(
    policy("resource-templates", `resources/read${completion}`, "resources", patterns, [
      "Resources that the server makes from templates, as patterns: each covers more than anybody has looked at. You decide,",
      "line by line, as above.",
    ]),
  );
}

function oddLines({ odd }: Selection): readonly string[] {
  return [...odd].flatMap(([oddity, names]) => [
    `    ## In no list, since these names ${ODDITIES[oddity]}:`,
    ...shown(names.map((name) => (name.length > 128 ? `${clip(name)} …` : quote(name)))),
  ]);
}

function twinLines({ twins }: Selection): readonly string[] {
  if (twins.length === 0) return [];
  return [
    "    ## Names that a reader may take for each other. The gateway tells them apart:",
    ...shown(twins.map((group) => group.map(clip).join("  "))),
  ];
}

/** The start of a name that may be long; never half of a surrogate pair. */
const clip = (name: string): string => quote([...name].slice(0, 128).join(""));

function shown(lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_SHOWN;
  return [
    ...lines.slice(0, MAX_SHOWN).map((line) => `    ##   ${line}`),
    ...(more > 0 ? [`    ##   and ${more} more`] : []),
  ];
}
