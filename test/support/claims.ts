/** What docs/claims.json holds, and what each kind of claim has to show (docs/decisions/0038-claims.md). */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { RULE_IDS, SWITCHABLE_IDS } from "../../src/rules/catalogue.ts";
import { ROWS, UNANSWERED } from "../../src/rules/rows.ts";
import { fences, page, ROOT, section } from "./markdown.ts";

/** What a page states, in its own words, or a section that is itself the record of a run; and what stands behind it. */
export type Claim = { readonly text: string } & Backing;
export interface Recorded {
  readonly section: string;
  readonly kind: "record";
  readonly command: string;
}
type Backing =
  | { readonly kind: "constant"; readonly file: string; readonly code: string }
  | { readonly kind: "setting"; readonly setting: string }
  | {
      readonly kind: "measured";
      readonly command: string;
      readonly result: string;
      readonly figures: string[];
    }
  | { readonly kind: "source"; readonly source: string; readonly date: string }
  | { readonly kind: "counted"; readonly counter: string }
  | { readonly kind: "computed"; readonly products: number[][]; readonly gives: number }
  | { readonly kind: "chosen"; readonly why: string };

const read = (path: string): string => readFileSync(`${ROOT}${path}`, "utf8");
const npm = JSON.parse(read("package.json")) as {
  scripts: Record<string, string>;
  devDependencies: Record<string, string>;
};

/** All claims, by the page that they stand on. */
export const claims = (): Record<string, (Claim | Recorded)[]> => JSON.parse(read("docs/claims.json"));

/** How many of what the code counts in a written unit: of characters one, of seconds also a thousand, of KiB 1024. */
const FACTORS: Record<string, number[]> = {
  ...{ µs: [1], ms: [1], s: [1, 1e3], min: [60, 6e4], m: [60, 6e4], h: [3600, 3.6e6] },
  ...{ second: [1, 1e3], minute: [60, 6e4], hour: [3600, 3.6e6], bit: [1, 1 / 8] },
  ...{
    KiB: [1024],
    MiB: [1024 ** 2],
    GiB: [1024 ** 3],
    KB: [1e3],
    kB: [1e3],
    MB: [1e6],
    GB: [1e9],
    million: [1e6],
  },
};

/** The amounts that a text may mean, each in all units that code could hold it in; of settings, which name their unit, in the least. */
function amounts(text: string, isSetting = false): Set<number> {
  const written = text.matchAll(/(\d+(?:[ ,]\d{3})*(?:\.\d+)?)(?:[ -]?(µs|[a-zA-Z]+))?/g);
  return new Set(
    [...written].flatMap(([, digits = "", unit = ""]) => {
      const factors = FACTORS[unit] ?? FACTORS[unit.replace(/s$/, "")] ?? [1];
      const value = Number(digits.replaceAll(/[ ,]/g, ""));
      return (isSetting ? factors.slice(-1) : factors).map((factor) => value * factor);
    }),
  );
}

/** What a piece of code such as `MAX_BYTES = 16 * 1024` holds: the version or the product at its end. Compose's `256mb` counts too. */
function codeAmounts(code: string): Set<number> {
  const version = /\[(\d+), (\d+)\]$/.exec(code);
  if (version !== null) return new Set([Number(`${version[1]}.${version[2]}`)]);
  const product = /(?:[\d_]+(?:mb)?(?: \* )?|MINUTE)+$/.exec(code)?.[0] ?? "";
  const factors = product.split(" * ").map((factor) => {
    if (factor === "MINUTE") return 6e4;
    return Number(factor.replaceAll(/_|mb/g, "")) * (factor.endsWith("mb") ? 1024 ** 2 : 1);
  });
  return new Set([factors.reduce((all, factor) => all * factor, 1)]);
}

/** Values that a claim of kind `counted` can name. Versions of packages go by the name of the package. */
const COUNTERS: Record<string, () => string> = {
  rules: () => String(RULE_IDS.length),
  "switchable rules": () => String(SWITCHABLE_IDS.length),
  requirements: () => String(ROWS.length),
  "answered requirements": () => String(ROWS.length - UNANSWERED.size),
  "console kilobytes": () => {
    const folder = `${ROOT}src/console/assets/`;
    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(`${folder}${name}`).size, 0);
    return String(Math.round(bytes / 1e3));
  },
};

function setting(path: string): unknown {
  let node = JSON.parse(read("config/sealgate.schema.json"));
  for (const name of path.split(".")) node = name === "[]" ? node?.items : find(node, name);
  return node?.default;
}

/** A member of an object in a schema, behind its alternatives too. */
// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema
function find(node: any, name: string): any {
  if (node?.properties?.[name] !== undefined) return node.properties[name];
  for (const other of [...(node?.anyOf ?? []), ...(node?.oneOf ?? []), ...(node?.allOf ?? [])]) {
    const found = find(other, name);
    if (found !== undefined) return found;
  }
}

const meets = (some: Set<number>, others: Set<number>): boolean => [...some].some((one) => others.has(one));

/** Why a command cannot have made a figure; undefined when it can. */
function wrongCommand(command: string): string | undefined {
  const script = /^npm run ([\w:-]+)/.exec(command)?.[1];
  const file = /^node ([\w/-]+\.ts)/.exec(command)?.[1];
  if (script !== undefined) return Object.hasOwn(npm.scripts, script) ? undefined : `no script ${script}`;
  return file !== undefined && existsSync(`${ROOT}${file}`) ? undefined : `no such command: ${command}`;
}

/** What is wrong with a claim, apart from where it stands; undefined when it holds. */
export function wrongWith(claim: Claim | Recorded, path: string): string | undefined {
  switch (claim.kind) {
    case "constant": {
      const text = existsSync(`${ROOT}${claim.file}`) ? read(claim.file) : "";
      const at = text.indexOf(claim.code);
      if (at < 0 || /^[\w.]|^ \*/.test(text.slice(at + claim.code.length)))
        return `${claim.file} has no ${claim.code}`;
      return meets(codeAmounts(claim.code), amounts(claim.text)) ? undefined : `the code says ${claim.code}`;
    }
    case "setting": {
      const value = setting(claim.setting);
      const isSo = meets(amounts(String(value), true), amounts(claim.text, true));
      return isSo ? undefined : `the default of ${claim.setting} is ${value}`;
    }
    case "measured": {
      const result = existsSync(`${ROOT}${claim.result}`) ? read(claim.result) : "";
      const missing = claim.figures.find((figure) => !tokens(result).includes(` ${figure} `));
      if (claim.figures.length === 0) return "no figures";
      return missing === undefined ? wrongCommand(claim.command) : `${claim.result} has no ${missing}`;
    }
    case "source":
      if (!/^20\d\d-\d\d(-\d\d)?$/.test(claim.date)) return "no date";
      return /^docs\//.test(claim.source) && !existsSync(`${ROOT}${claim.source}`)
        ? "no such page"
        : undefined;
    case "counted": {
      const value = COUNTERS[claim.counter]?.() ?? npm.devDependencies[claim.counter];
      if (value === undefined) return `nothing counts ${claim.counter}`;
      return tokens(claim.text).includes(` ${value} `) ? undefined : `${claim.counter}: ${value}`;
    }
    case "computed": {
      const sum = claim.products.reduce((all, factors) => all + factors.reduce((a, b) => a * b, 1), 0);
      const least = Number.isInteger(claim.gives) ? 0.5 : 0;
      if (!amounts(claim.text.replaceAll(/[a-zµ]+/gi, " ")).has(claim.gives))
        return `the text does not say ${claim.gives}`;
      return Math.abs(sum - claim.gives) <= Math.max(claim.gives / 20, least)
        ? undefined
        : `the products give ${sum}`;
    }
    case "chosen":
      return claim.why === "" ? "no reason" : undefined;
    case "record": {
      const shown = fences(section(page(path), claim.section)).map(({ body }) => body);
      if (!shown.some((body) => body.includes(claim.command)))
        return `the section does not show ${claim.command}`;
      return wrongCommand(claim.command);
    }
  }
}

/** A text as figures and words with a space on either side; groups of thousands are joined. */
const tokens = (text: string): string =>
  ` ${text
    .replaceAll(/(\d)[ ,](?=\d{3}\b)/g, "$1")
    .replaceAll(/[^\w.%µ-]+/g, " ")
    .replaceAll(/\.(?= )/g, "")} `;
