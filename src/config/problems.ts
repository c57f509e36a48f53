/**
 * What the schema found → what an operator reads: what is wrong, what was found, what is allowed.
 * The only place that quotes values of a configuration file, so the only place that must know which not to quote.
 */
import type * as z from "zod";
import { CATALOGUE, isRuleId } from "../rules/catalogue.ts";
import type { ConfigDocument, DocumentProblem } from "./document.ts";
import { knownNames, printPath, type Step } from "./json-schema.ts";
import { nearest } from "./nearest.ts";

const MAX_SHOWN = 60;
/** Under a member of one of these names a value may be a secret, wherever it was put by mistake. */
const SECRET_PLACES = new Set([
  "secret",
  "password",
  "credential",
  "bearer",
  "value",
  "token",
  "key",
  "keys",
  "ring",
  "username",
]);
/** Credentials in URLs, parameters, PEM, JWTs, and runs of characters that only machines make. */
const SECRET_LOOKS = /[@?]|-----BEGIN|eyJ|[A-Za-z0-9+_=-]{20,}/;

/** A value in words, for a message. Secrets, and what looks like one, are never quoted. `null` is "nothing". */
export function found(path: readonly Step[], value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  if (typeof value === "object") return "a mapping";
  const hidden = path.some((step) => typeof step === "string" && SECRET_PLACES.has(step));
  const kind = typeof value === "string" ? "a text" : `a ${typeof value}`;
  if (hidden) return `${kind} (not shown)`;
  if (typeof value !== "string") return String(value);
  if (SECRET_LOOKS.test(value)) return `${kind} (not shown)`;
  return value.length > MAX_SHOWN ? `${kind} of ${value.length} characters` : JSON.stringify(value);
}

/** The raw value at `path`, `undefined` when nothing stands there. */
export function valueAt(root: unknown, path: readonly Step[]): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<Step, unknown>)[step];
  }
  return value;
}

const TYPES: Readonly<Record<string, string>> = {
  object: "a mapping",
  array: "a list",
  string: "a text",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
};

/** How zod's own texts begin. */
const ZOD_TEXT = /^(Invalid|Too|Unrecognized)/;

/** The second half of a message, from the schema's own issue; of a union, what each of its members allows. */
function allowed(issue: z.core.$ZodIssue): string {
  if (issue.code === "custom") return String(issue.params?.["allowed"] ?? "");
  if (issue.code === "invalid_value") return issue.values.map(String).join(" | ");
  if (issue.code === "invalid_union" && "options" in issue) return (issue.options as unknown[]).join(" | ");
  if (issue.code === "invalid_union" && ZOD_TEXT.test(issue.message)) {
    const words = issue.errors.flatMap(([first]) => (first === undefined ? [] : [allowed(first)]));
    return [...new Set(words)].join(", or ");
  }
  // A field that states what it allows has it as its message; zod's own texts begin otherwise.
  if (!ZOD_TEXT.test(issue.message)) return issue.message;
  return issue.code === "invalid_type" ? (TYPES[issue.expected] ?? issue.expected) : "another value";
}

const OUT_OF_RANGE = "is out of range";

function wrong(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined) return "is required and missing";
  if (value === null) return "is empty";
  if (issue.code === "custom") return issue.message;
  if (issue.code === "too_small" && Array.isArray(value)) return "is an empty list";
  if (issue.code === "too_small" || issue.code === "too_big") return OUT_OF_RANGE;
  if (issue.code === "invalid_union" && issue.errors.some(([first]) => first?.message === OUT_OF_RANGE)) {
    return OUT_OF_RANGE;
  }
  return issue.code === "invalid_type" ? "has the wrong type" : "is not a known value";
}

function unknownNames(
  doc: ConfigDocument,
  path: readonly Step[],
  names: readonly string[],
): DocumentProblem[] {
  const known = knownNames(path);
  return names.map((name) => {
    const near = nearest(name, known) ?? (isRules(path) ? ruleEndingIn(name, known) : undefined);
    const plain = /^\w[\w./-]{0,40}$/.test(name) && (near !== undefined || !SECRET_LOOKS.test(name));
    const shown = plain ? name : "(name not shown)";
    return {
      ...doc.placeOfName(path, name),
      path: [...path, shown],
      message:
        coreRule(path, name) ??
        `unknown setting, ${familyHint(path, name, doc) ?? hintAt(path, near, known)}`,
    };
  });
}

/** What is allowed instead of a name that is not known. */
function hintAt(path: readonly Step[], near: string | undefined, known: readonly string[]): string {
  if (near !== undefined) return `did you mean ${near}?`;
  return isRules(path) ? "allowed the rules that `sealgate rules` lists" : `allowed ${known.join(", ")}`;
}

/** What to say of a rule that exists and has no mode. */
function coreRule(path: readonly Step[], name: string): string | undefined {
  if (!isRules(path) || !isRuleId(name)) return undefined;
  const rule = CATALOGUE[name];
  if (!("core" in rule)) return undefined;
  return `is a rule that cannot be switched, allowed nothing here. ${rule.core}`;
}

/** Rules written as members of their family: `elicitation: { secret-field: off }`. */
function familyHint(path: readonly Step[], name: string, doc: ConfigDocument): string | undefined {
  if (!isRules(path)) return undefined;
  const members = knownNames(path).filter((id) => id.startsWith(`${name}/`));
  const value = valueAt(doc.value, [...path, name]);
  if (members.length === 0 || typeof value !== "object" || value === null) return undefined;
  const near = nearest(`${name}/${Object.keys(value)[0] ?? ""}`, members);
  return near === undefined
    ? `allowed names of rules in one word, such as ${members[0]}`
    : `did you mean ${near}?`;
}

/** The one rule of any family that `name` is the last part of. */
function ruleEndingIn(name: string, known: readonly string[]): string | undefined {
  const near = nearest(
    name,
    known.map((id) => id.slice(id.indexOf("/") + 1)),
  );
  const ids = known.filter((id) => near !== undefined && id.endsWith(`/${near}`));
  return ids.length === 1 ? ids[0] : undefined;
}

/** Whether the members of the setting at `path` are rules. */
function isRules(path: readonly Step[]): boolean {
  return path.filter((step) => typeof step === "string" && step !== "tools").at(-1) === "rules";
}

/** The settings under `path` that `names`, which are not known, are most likely meant to be. */
export function meantBy(path: readonly Step[], names: readonly string[]): string[] {
  return names.map((name) => nearest(name, knownNames(path))).filter((name) => name !== undefined);
}

/** The issues of one section → problems with places. `section` is the path of what was parsed. */
export function schemaProblems(
  doc: ConfigDocument,
  section: readonly Step[],
  issues: readonly z.core.$ZodIssue[],
): DocumentProblem[] {
  const pathOf = (issue: z.core.$ZodIssue): Step[] => [...section, ...(issue.path as Step[])];
  // One mistyped name is one mistake, not also a missing setting.
  const mistyped = new Set<string>();
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") continue;
    const path = pathOf(issue);
    for (const name of meantBy(path, issue.keys)) {
      mistyped.add(printPath([...path, name]));
      mistyped.add(`${printPath(path)} holds neither`);
    }
  }
  return issues.flatMap((issue) => {
    const path = pathOf(issue);
    if (issue.code === "unrecognized_keys") return unknownNames(doc, path, issue.keys);
    const value = valueAt(doc.value, path);
    if (value === undefined && mistyped.has(printPath(path))) return [];
    const neither = issue.code === "custom" && issue.message.startsWith("holds neither");
    if (neither && mistyped.has(`${printPath(path)} holds neither`)) return [];
    const what = wrong(issue, value);
    // "holds neither file nor env, found a mapping" would say nothing.
    const silent =
      value === undefined || value === null || (issue.code === "custom" && typeof value === "object");
    const middle = silent ? "" : `, found ${found(path, value)}`;
    return [{ ...doc.place(path), path, message: `${what}${middle}, allowed ${allowed(issue)}` }];
  });
}
