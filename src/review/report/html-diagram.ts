/**
 * The sequence diagram of one round trip, as inline SVG: client and endpoint, first call, question, retry, result. Places across are
 * percentages and words are wrapped narrow, so that the same drawing is read on a phone and on paper without being scaled. Pure.
 */
import type { RecordedCall, RecordedExchange } from "../record.ts";
import { code, element, joined, type Markup, text } from "./html-elements.ts";
import { briefly, MAX_NAME, shown, wrapped } from "./text.ts";

type Step = RecordedCall["map"][number];

interface Arrow {
  readonly to: "client" | "endpoint";
  readonly tone: "plain" | "good" | "bad" | "waits";
  /** Above the line, then below it in small. */
  readonly title: string;
  readonly notes: readonly string[];
  readonly number: number;
}

const LINE = 18;
/** As many as stand between the lifelines on the narrowest phone. */
const COLUMNS = 32;
/** Of one arrow; a form can have many fields. */
const MAX_NOTES = 8;
const MAX_LINES = 3;
/** More steps than this tell nothing new. */
const MAX_STEPS = 40;

/** A figure with its caption. @param exchanges by number, for how long answers took */
export function diagramOf(call: RecordedCall, exchanges: ReadonlyMap<number, RecordedExchange>): Markup {
  const arrows = call.map.slice(0, MAX_STEPS).flatMap((step) => arrowsOf(step, call, exchanges));
  if (arrows.length === 0)
    return element(
      "p",
      { class: "quiet" },
      text("No round trip of this call came about, so there is nothing to draw."),
    );
  const pieces: Markup[] = [];
  let y = 46;
  for (const arrow of arrows) {
    const { markup, height } = drawn(arrow, y);
    pieces.push(markup);
    y += height;
  }
  const height = y + 12;
  const rounds = call.map.filter(({ kind }) => kind === "retry").length;
  const left = call.map.length - MAX_STEPS;
  return element(
    "figure",
    { class: "diagram" },
    element(
      "svg",
      { width: "100%", height, role: "img", "aria-label": spoken(arrows) },
      ...(["client", "endpoint"] as const).map((end) => lifeline(end, height)),
      ...pieces,
    ),
    element(
      "figcaption",
      {},
      text("The round trip of "),
      code(shown(call.name, MAX_NAME)),
      text(` before checks began: ${rounds} ${rounds === 1 ? "retry" : "retries"}.`),
      text(left > 0 ? ` ${left} more steps are not drawn.` : ""),
    ),
  );
}

function arrowsOf(step: Step, call: RecordedCall, exchanges: ReadonlyMap<number, RecordedExchange>): Arrow[] {
  const ms = exchanges.get(step.exchange)?.ms;
  const answered = (step.answers ?? []).map(
    ({ key, action }) =>
      () =>
        `${briefly(key, 60)}: ${action}`,
  );
  const asked = (step.questions ?? []).flatMap(({ key, kind, fields = [] }) => [
    () => `${kind} ${briefly(key, 60)}`,
    ...fields.map(
      ({ name, type, required }) =>
        () =>
          `· ${briefly(name, 40)}: ${briefly(type, 24)}${required ? "" : ", optional"}`,
    ),
  ]);
  const state =
    step.state === undefined ? [] : [step.state ? "with a requestState" : "without a requestState"];
  return [
    {
      to: "endpoint",
      tone: "plain",
      title: step.kind === "call" ? `${call.method} ${briefly(call.target, 80)}` : "retry with answers",
      notes: step.kind === "call" ? ["first call"] : firstOf(answered),
      number: step.exchange,
    },
    {
      to: "client",
      tone: TONES[step.ends],
      title: ENDS[step.ends],
      notes: [...(ms === undefined ? [] : [`after ${Math.round(ms)} ms`]), ...state, ...firstOf(asked)],
      number: step.exchange,
    },
  ];
}

/** As many as are drawn; a server can ask for anything, any number of times. */
const firstOf = (notes: readonly (() => string)[]): readonly string[] => {
  const left = notes.length - MAX_NOTES;
  return [...notes.slice(0, MAX_NOTES).map((note) => note()), ...(left > 0 ? [`… and ${left} more`] : [])];
};

const ENDS = {
  input_required: "input required",
  complete: "complete result",
  tool_error: "result with isError",
  task: "a task",
  error: "JSON-RPC error",
  none: "no answer",
} as const satisfies Record<Step["ends"], string>;

const TONES = {
  input_required: "waits",
  complete: "good",
  tool_error: "bad",
  task: "waits",
  error: "bad",
  none: "bad",
} as const satisfies Record<Step["ends"], Arrow["tone"]>;

const X = { client: "6%", endpoint: "94%" } as const;

function lifeline(end: keyof typeof X, height: number): Markup {
  const anchor = end === "client" ? { x: "0", "text-anchor": "start" } : { x: "100%", "text-anchor": "end" };
  return joined([
    element("text", { ...anchor, y: 16, class: "lane" }, text(end === "client" ? "Client" : "Endpoint")),
    element("line", { x1: X[end], x2: X[end], y1: 26, y2: height, class: "life" }),
  ]);
}

function drawn(
  { to, tone, title, notes, number }: Arrow,
  top: number,
): { readonly markup: Markup; readonly height: number } {
  const titles = limited(wrapped(to === "endpoint" ? `#${number} ${title}` : title, COLUMNS), MAX_LINES);
  const small = notes.flatMap((note) => limited(wrapped(note, COLUMNS + 1), MAX_LINES));
  const at = top + titles.length * LINE;
  const from = to === "client" ? "endpoint" : "client";
  // The head is a drawing of its own, so that it keeps its size wherever its percentage is.
  const head = to === "client" ? "M0 0l9 -5v10z" : "M0 0l-9 -5v10z";
  const line = (content: string, y: number, style: string): Markup =>
    element("text", { x: "50%", y, class: style, "text-anchor": "middle" }, text(content));
  return {
    markup: element(
      "g",
      { class: tone },
      ...titles.map((content, row) => line(content, top + row * LINE + 6, "title")),
      element("line", { x1: X[from], x2: X[to], y1: at, y2: at, class: "arrow" }),
      element("svg", { x: X[to], y: at, overflow: "visible" }, element("path", { d: head, class: "head" })),
      ...small.map((content, row) => line(content, at + 17 + row * (LINE - 2), "note")),
    ),
    height: titles.length * LINE + small.length * (LINE - 2) + 26,
  };
}

const limited = (lines: readonly string[], most: number): readonly string[] =>
  lines.length <= most ? lines : [...lines.slice(0, most - 1), `${lines[most - 1] ?? ""} …`];

const spoken = (arrows: readonly Arrow[]): string =>
  arrows
    .map(
      ({ to, title, notes }) =>
        `${to === "endpoint" ? "Client to endpoint" : "Endpoint to client"}: ${[title, ...notes].join(", ")}.`,
    )
    .join(" ");
