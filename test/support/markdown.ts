/** The project's own documents, taken apart for tests: fences, code spans, links, headings, tables. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the project, with a slash at the end. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** One Markdown file; `path` starts at the project's folder. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** A fenced block: the word behind the fence, and what stands in it. */
export interface Fence {
  readonly language: string;
  readonly body: string;
}

const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm;

/** Reads one page. */
export function page(path: string): Page {
  return { path, text: readFileSync(`${ROOT}${path}`, "utf8") };
}

/** All pages that belong to the project: those at the top and everything under docs/. */
export function pages(): Page[] {
  const top = readdirSync(ROOT).filter((name) => name.endsWith(".md"));
  const docs = readdirSync(`${ROOT}docs`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  return [...top, ...docs].sort().map(page);
}

/** The fenced blocks of a page. */
export function fences({ text }: Page): Fence[] {
  return [...text.matchAll(FENCE)].map(([, language = "", body = ""]) => ({ language, body }));
}

/** The page without its fenced blocks. */
export const prose = ({ text }: Page): string => text.replace(FENCE, "");

/** What stands in code spans. */
export const spans = (at: Page): string[] =>
  [...prose(at).matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span.replaceAll(/\s+/g, " "));

/** Targets of links to other places of the project: no addresses with a scheme. */
export function links(at: Page): string[] {
  const text = prose(at).replaceAll(/`[^`]*`/g, "");
  const inline = [...text.matchAll(/\]\(([^)\s]+)\)/g)];
  const defined = [...text.matchAll(/^\[[^\]]+\]: (\S+)$/gm)];
  return [...inline, ...defined]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors of a page, as forges make them of its headings. */
export function anchors(at: Page): Set<string> {
  return new Set(
    [...prose(at).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** The part of a page under one heading, up to the next of the same or a higher level. */
export function section(at: Page, heading: string): Page {
  const lines = at.text.split("\n");
  // A comment in a fenced block is no heading.
  const plain = at.text.replace(FENCE, (block) => block.replace(/^#/gm, " ")).split("\n");
  const level = (line: string): number => /^(#+) /.exec(line)?.[1]?.length ?? 0;
  const start = plain.findIndex((line) => level(line) > 0 && line.replace(/^#+ /, "") === heading);
  if (start < 0) throw new Error(`${at.path} has no heading ${heading}`);
  const depth = level(plain[start] ?? "");
  const length = plain.slice(start + 1).findIndex((line) => level(line) > 0 && level(line) <= depth);
  return {
    path: at.path,
    text: lines.slice(start + 1, length < 0 ? undefined : start + 1 + length).join("\n"),
  };
}

/** The rows of all tables of a page, heads and rulers left out; cells are trimmed. */
export function rows(at: Page): string[][] {
  const lines = prose(at).split("\n");
  return lines.flatMap((line, index) => {
    const isHead = /^\|[-| ]+\|$/.test(lines[index + 1] ?? "");
    if (!line.startsWith("|") || isHead || /^\|[-| ]+\|$/.test(line)) return [];
    return [
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    ];
  });
}

/** The code spans of a table cell or a line. */
export const codes = (cell: string): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
