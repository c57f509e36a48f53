/** The style of the HTML report: light and dark, phones, paper; no picture, no font. Its colours are those of the operator's page. */
export const SHEET = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --raised: #f4f5f7; --text: #1b1f24; --quiet: #4f5864; --line: #d3d8de; --edge: #6b7480; --link: #0b57b0;
  --good: #146c36; --good-ground: #e9f5ed; --bad: #b3261e; --bad-ground: #fdecea; --waits: #7a4b00;
  --open: #6b2fa0; --open-ground: #f4ecfb; --none: #1d5a78;
  --mono: ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #12161b; --raised: #1c222a; --text: #e6e9ee; --quiet: #aab4c0; --line: #333c47; --edge: #8b96a4; --link: #8ab8ff;
    --good: #6fd08c; --good-ground: #14291c; --bad: #ff9b92; --bad-ground: #351a19; --waits: #f0b860;
    --open: #cfa6f5; --open-ground: #281c35; --none: #86c5e4;
  }
}
* { box-sizing: border-box; }
html { background: var(--page); color: var(--text); font: 1rem / 1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
body { margin: 0 auto; max-width: 60rem; padding: 0 1.2rem 4rem; }
bdi, code, pre { overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0.2rem 0 1.2rem; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 0.6rem; }
h3 { font-size: 1rem; margin: 0 0 0.5rem; }
h4 { font-size: 1rem; margin: 0; line-height: 1.4; }
p, dl, ul, ol { margin: 0.4rem 0; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px; }
code, pre { font-family: var(--mono); font-size: 0.85em; }
.hidden { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.quiet, .source { color: var(--quiet); }
.name { font-weight: 700; margin: 1.4rem 0 0; }
.name span { color: var(--quiet); font-weight: 400; }
.conclusion { border-radius: 8px; padding: 0.9rem 1.2rem; border-left: 6px solid; }
.conclusion p { margin: 0; color: var(--text); }
.conclusion .verdict { font-size: 1.5rem; font-weight: 700; line-height: 1.3; color: inherit; }
.sign { display: inline-block; min-width: 1.2em; }
.conclusion.pass { color: var(--good); background: var(--good-ground); }
.conclusion.fail { color: var(--bad); background: var(--bad-ground); }
.conclusion.warn { color: var(--waits); background: var(--open-ground); }
.conclusion.inconclusive { color: var(--open); background: var(--open-ground); }
.counts { display: grid; grid-template-columns: repeat(5, 1fr); gap: 0.6rem; list-style: none; padding: 0; margin: 0.8rem 0 1.6rem; }
.counts li { border: 1px solid var(--line); border-top: 4px solid currentColor; border-radius: 6px; padding: 0.4rem 0.8rem 0.5rem; }
.counts strong { display: block; font-size: 1.6rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.counts span, .counts a { color: var(--text); font-size: 0.85rem; }
.counts .zero { border-top-color: var(--line); }
.counts .zero, .counts .zero span { color: var(--quiet); }
.counts .fail, .badge.fail { color: var(--bad); }
.counts .inconclusive, .badge.inconclusive { color: var(--open); }
.counts .warn, .badge.warn { color: var(--waits); }
.counts .not_applicable, .badge.not_applicable { color: var(--none); }
.counts .pass, .badge.pass { color: var(--good); }
.found, .about { border: 1px solid var(--line); border-radius: 8px; padding: 0.9rem 1.2rem; margin: 1rem 0; }
.found ul { list-style: none; padding: 0; margin: 0; }
.found li { padding: 0.55rem 0; border-top: 1px solid var(--line); }
.found li:last-child { padding-bottom: 0; }
.found p { margin: 0.1rem 0; }
.found .title { font-weight: 600; }
.found .those { font-size: 0.9rem; }
.found.fail { border-left: 6px solid var(--bad); }
.found.warn { border-left: 6px solid var(--waits); }
.found.untried { border-left: 6px solid var(--open); }
.calls li { display: flex; flex-wrap: wrap; gap: 0 0.9rem; align-items: baseline; }
.calls li > :first-child { flex: 1 1 12rem; min-width: 0; }
.about ul { margin: 0; padding-left: 1.1rem; }
.call { margin-top: 3rem; padding-top: 1.6rem; border-top: 2px solid var(--text); }
dl > div { display: grid; grid-template-columns: minmax(6rem, 10rem) minmax(0, 1fr); gap: 0 1rem; padding: 0.12rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; }
.diagram { margin: 1.2rem 0 1.6rem; padding: 1rem 1.2rem; max-width: 40rem; background: var(--raised); border-radius: 8px; }
.diagram > svg { display: block; overflow: hidden; }
.diagram text { fill: var(--text); font: 12px var(--mono); unicode-bidi: isolate; }
.diagram .lane { font: 600 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
.diagram .title { font-weight: 600; }
.diagram .note { fill: var(--quiet); font-size: 11.5px; }
.life { stroke: var(--edge); stroke-width: 1.5; stroke-dasharray: 3 4; }
.arrow { stroke: var(--text); stroke-width: 1.75; }
.head { fill: var(--text); }
.good .title, .good .head { fill: var(--good); }
.good .arrow { stroke: var(--good); }
.bad .title, .bad .head { fill: var(--bad); }
.bad .arrow { stroke: var(--bad); }
.waits .title, .waits .head { fill: var(--waits); }
.waits .arrow { stroke: var(--waits); }
figcaption { color: var(--quiet); font-size: 0.85rem; margin-top: 0.6rem; }
.group { margin: 1.6rem 0 0.6rem; }
.badge { font-size: 0.85rem; font-weight: 700; white-space: nowrap; }
.result { border: 1px solid var(--line); border-left: 6px solid var(--line); border-radius: 8px; padding: 0.8rem 1.2rem; margin: 0.8rem 0; }
.result.fail { border-left-color: var(--bad); }
.result.inconclusive { border-left-color: var(--open); }
.result.warn { border-left-color: var(--waits); }
.result.not_applicable { border-left-color: var(--none); }
.result.pass { border-left-color: var(--good); }
.result:target, details:target, .call:target > h2 { outline: 3px solid var(--link); outline-offset: 2px; }
.result .badge { margin-right: 0.3rem; }
.id { margin: 0; color: var(--quiet); }
.result dl { font-size: 0.9rem; margin: 0.6rem 0 0; }
.source { font-size: 0.9em; }
.exchanges { list-style: none; padding: 0; margin: 0.6rem 0; font-size: 0.9rem; border-top: 1px solid var(--line); }
.exchanges > li { border-bottom: 1px solid var(--line); }
.line { display: grid; grid-template-columns: 1rem 3.4rem minmax(0, 1fr); padding: 0.4rem 0.2rem; list-style: none; color: inherit; text-decoration: none; }
.line > * { grid-column: 3; }
.line::-webkit-details-marker { display: none; }
.line::before { content: "\u25b8" / ""; color: var(--quiet); grid-column: 1; grid-row: 1; }
a.line::before { content: "\u2191" / "shown above"; }
div.line::before { content: ""; }
details[open] > .line::before { content: "\u25be" / ""; }
summary.line { cursor: pointer; }
.line:hover { background: var(--raised); }
.line > .number { grid-column: 2; grid-row: 1; color: var(--quiet); font-variant-numeric: tabular-nums; }
.label { font-weight: 600; }
.way { color: var(--quiet); font-size: 0.85rem; margin: 0.5rem 0 0.2rem; }
.line .way { display: inline-block; width: 2.6rem; margin: 0; }
.label { margin-bottom: 0.1rem; }
.exchanges details > :not(summary) { margin-left: 1.2rem; }
pre { background: var(--raised); border-left: 3px solid var(--edge); padding: 0.6rem 0.8rem; white-space: pre-wrap; margin: 0.3rem 0 0.5rem; unicode-bidi: plaintext; }
pre.headers { color: var(--quiet); background: none; padding: 0.1rem 0.8rem; border-left-color: var(--line); }
footer { margin-top: 3rem; border-top: 1px solid var(--line); color: var(--quiet); font-size: 0.9rem; }
@media (max-width: 40rem) {
  body { padding: 0 0.8rem 3rem; }
  h1 { font-size: 1.2rem; }
  .counts { grid-template-columns: repeat(2, 1fr); gap: 0.4rem; }
  .counts li { display: flex; gap: 0.5rem; align-items: baseline; border-top: 1px solid var(--line); border-left: 4px solid currentColor; padding: 0.3rem 0.6rem; }
  .counts .zero { border-left-color: var(--line); }
  .calls li > :first-child { flex-basis: 100%; }
  .counts strong { font-size: 1.2rem; }
  .conclusion, .found, .about, .result { padding: 0.7rem 0.8rem; }
  .diagram { padding: 0.8rem 0.6rem; }
  .result dl > div { grid-template-columns: minmax(0, 1fr); }
  dl > div { grid-template-columns: minmax(5.5rem, 7.5rem) minmax(0, 1fr); }
  .exchanges details > :not(summary) { margin-left: 0; }
}
@media (forced-colors: active) {
  .arrow, .life { stroke: CanvasText; }
  .head, .diagram text { fill: CanvasText !important; }
}
@media print {
  html { font-size: 9.5pt; }
  body { max-width: none; padding: 0; }
  .conclusion, .counts li, .result, .diagram, pre { print-color-adjust: exact; }
  .result, .diagram, .found li, .counts { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .call { break-before: page; border-top: 0; margin-top: 0; }
  a { color: inherit; text-decoration: none; }
}
`;
