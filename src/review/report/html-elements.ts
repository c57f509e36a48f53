/** Pieces of HTML and SVG that cannot be anything else: what is no `Markup` is text, and is escaped. Pure. */
import { createHash } from "node:crypto";
import { escaped } from "./text.ts";

declare const made: unique symbol;
/** Markup that was made here. */
export type Markup = string & { readonly [made]: true };

/** What goes into an element: markup as it is, and under `text` only what was escaped. */
export const text = (content: string): Markup => escaped(content) as Markup;

/** Several pieces after each other. */
export const joined = (pieces: readonly Markup[]): Markup => pieces.join("") as Markup;

const VOID = new Set(["meta", "line", "circle", "path", "rect"]);

/** An element. Names are the caller's own words; values of attributes are escaped. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | true | undefined>>,
  ...inner: readonly Markup[]
): Markup {
  const said = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : value === true ? ` ${key}` : ` ${key}="${escaped(String(value))}"`,
  );
  const open = `<${name}${said.join("")}`;
  if (VOID.has(name)) return `${open}${name === "meta" ? ">" : "/>"}` as Markup;
  return `${open}>${inner.join("")}</${name}>` as Markup;
}

/** A text of somebody else on its own: whichever way it runs, it moves nothing beside it. */
export const value = (content: string): Markup => element("bdi", {}, text(content));

/** As `value`, with what stands between two backticks as code. */
export const prose = (content: string): Markup =>
  element(
    "bdi",
    {},
    // What a group caught stands at every odd place.
    ...content
      .split(/`([^`]+)`/)
      .map((part, at) => (at % 2 === 0 ? text(part) : element("code", {}, text(part)))),
  );

/** Code on its own, as of `value`. */
export const code = (content: string): Markup => element("code", {}, value(content));

/** Names with their values. */
export const facts = (pairs: readonly (readonly [string, Markup])[]): Markup =>
  element(
    "dl",
    {},
    ...pairs.map(([name, inner]) =>
      element("div", {}, element("dt", {}, text(name)), element("dd", {}, inner)),
    ),
  );

/** A style sheet of ours, and the one source that a policy allows for it (CSP Level 3, hash-source). */
export function styleOf(sheet: string): { readonly element: Markup; readonly source: string } {
  return {
    element: `<style>${sheet}</style>` as Markup,
    source: `'sha256-${createHash("sha256").update(sheet).digest("base64")}'`,
  };
}
