/** Elements made of text. Whatever comes from callers and servers is text here, never markup, and nothing in it is invisible. */

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** Of one table: a browser has to draw them all. */
const MOST_ROWS = 200;
const SVG = "http://www.w3.org/2000/svg";

/** A text with what cannot be seen, or turns what stands around it, written out as {U+XXXX}. */
export const shown = (text) =>
  String(text).replace(
    UNSEEN,
    (character) => `{U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}}`,
  );

/** The same, with its line ends. */
export const shownLines = (text) => String(text).split("\n").map(shown).join("\n");

/** An element; children are elements or texts, undefined ones are left out. Texts are escaped as `shown` does. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (key === "onclick") made.addEventListener("click", value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined) continue;
    made.append(typeof child === "object" ? child : shown(child));
  }
  return made;
}

/** An element of SVG. */
export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** A value of others, set apart from what stands around it, in whatever direction it runs. */
export const value = (text) => element("bdi", { class: "value" }, text);

/** A moment in UTC; the whole of it in the title. */
export const moment = (instant) =>
  element("time", { datetime: instant, title: instant }, String(instant).slice(11, 19));

/** The same with its day. */
export const day = (instant) =>
  element(
    "time",
    { datetime: instant, title: instant },
    `${String(instant).slice(0, 16).replace("T", " ")} UTC`,
  );

/** Bars, one for each number; told to nobody who does not see them, since a table has the same. */
export function bars(numbers, height, label) {
  const most = Math.max(1, ...numbers);
  const made = svg("svg", {
    viewBox: `0 0 ${numbers.length * 4} ${height}`,
    preserveAspectRatio: "none",
    class: "bars",
    ...(label === undefined ? { "aria-hidden": "true" } : { role: "img", "aria-label": label }),
  });
  for (const [index, number] of numbers.entries()) {
    if (number === 0) continue;
    const tall = Math.max(2, (number / most) * height);
    made.append(svg("rect", { x: index * 4, y: height - tall, width: 3, height: tall }));
  }
  made.append(svg("rect", { class: "ground", x: 0, y: height - 1, width: numbers.length * 4, height: 1 }));
  return made;
}

/**
 * A table that scrolls by itself where it is too wide.
 * @param columns names of columns
 * @param rows cells by row; the first cell is the row's name
 */
export function table(caption, columns, rows, none) {
  const head = element(
    "tr",
    {},
    columns.map((name) => element("th", { scope: "col" }, name)),
  );
  const body = rows.slice(0, MOST_ROWS).map((cells) =>
    element(
      "tr",
      {},
      cells.map((cell, index) =>
        element(index === 0 ? "th" : "td", index === 0 ? { scope: "row" } : {}, cell),
      ),
    ),
  );
  const id = `caption-${caption.replace(/\W+/g, "-").toLowerCase()}`;
  const made = element(
    "div",
    { class: "wide", role: "region", "aria-labelledby": id, tabindex: "0", "data-name": id },
    element(
      "table",
      {},
      element("caption", { id }, caption),
      element("thead", {}, head),
      element("tbody", {}, body),
    ),
  );
  if (rows.length === 0) return element("p", { class: "none" }, none);
  if (rows.length > MOST_ROWS)
    made.append(element("p", { class: "hint" }, `${rows.length - MOST_ROWS} more are not shown.`));
  return made;
}

/** Names and values; undefined values are left out. */
export const facts = (pairs) =>
  element(
    "dl",
    {},
    pairs.flatMap(([name, ...values]) =>
      values.every((one) => one === undefined)
        ? []
        : [element("div", {}, element("dt", {}, name), element("dd", {}, values))],
    ),
  );

/** A state by sign and word. */
export const badge = ({ tone, word }) =>
  element(
    "span",
    { class: `badge ${tone}` },
    element("span", { "aria-hidden": "true" }, `${SIGNS[tone]} `),
    word,
  );

const SIGNS = { good: "✓", bad: "✕", waits: "?", note: "•" };

const FILLED = new WeakMap();

/** Puts new children in, unless nothing has changed; focus and place stay with what has the same `data-name`. */
export function fill(container, data, build) {
  const key = JSON.stringify(data);
  if (FILLED.get(container) === key) return;
  const named = () => [...container.querySelectorAll("[data-name]")];
  const focused = container.contains(document.activeElement)
    ? document.activeElement.dataset.name
    : undefined;
  const places = new Map(named().map((one) => [one.dataset.name, one.scrollLeft]));
  container.replaceChildren(...[build()].flat());
  FILLED.set(container, key);
  for (const one of named()) {
    one.scrollLeft = places.get(one.dataset.name) ?? 0;
    if (focused !== undefined && one.dataset.name === focused) one.focus({ preventScroll: true });
  }
}
