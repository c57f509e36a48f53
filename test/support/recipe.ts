/**
 * A recipe of docs/recipes, started: configurations are read out of the page, the addresses in them replaced by those of the
 * test, and nothing else changed, so that a page and its test cannot drift.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { exchange, type Message, mirrored, type Reply } from "./gateway.ts";
import { fences, page } from "./markdown.ts";
import { type GatewayProcess, type OutputLine, runProcess } from "./process.ts";
import { until } from "./until.ts";

/** The blocks of a recipe in one language, in their order. */
export function blocks(name: string, language: string): string[] {
  return fences(page(`docs/recipes/${name}`))
    .filter((fence) => fence.language === language)
    .map(({ body }) => body);
}

/** What stands on the page → what the test puts there. */
export type Replacements = Readonly<Record<string, string>>;

/** @throws Error for a text that the page does not have: the page has changed, and the test must follow. */
export function fitted(block: string, replacements: Replacements): string {
  return Object.entries(replacements).reduce((text, [written, put]) => {
    if (!text.includes(written)) throw new Error(`the page does not have ${written}`);
    return text.replaceAll(written, put);
  }, block);
}

/** What a page writes as the listener; on port 0 no two tests meet. */
export const LISTEN: Replacements = { "listen: 127.0.0.1:8080": "listen: 127.0.0.1:0" };

/** A gateway process with a configuration of a page. `secrets`: the files under `secrets/`, by name. */
export async function startRecipe(
  t: { teardown(run: () => unknown): void },
  block: string,
  secrets: Readonly<Record<string, string>>,
): Promise<GatewayProcess> {
  const folder = await mkdtemp(join(tmpdir(), "sealgate-recipe-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(secrets)) {
    const file = join(folder, "secrets", name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode: 0o600 });
  }
  const file = join(folder, "sealgate.yaml");
  await writeFile(file, block);
  return runProcess(t, file);
}

/** A client: where it sends, with which token and further headers. */
export function client(base: string, token: string | undefined, more: Readonly<Record<string, string>> = {}) {
  return (message: Message, body: string): Promise<Reply> =>
    exchange(base, {
      headers: { ...mirrored(message), ...(token && { authorization: `Bearer ${token}` }), ...more },
      body,
    });
}

/** The first audit records of a gateway process, once so many have come out of it. */
export async function auditOf({ lines }: GatewayProcess, count: number): Promise<OutputLine[]> {
  const records = () => lines.filter(({ type }) => type === "audit");
  await until(() => records().length >= count);
  return records().slice(0, count);
}
