/** What checks of the reviewer find on a server, for tables of tests. */
import assert from "node:assert/strict";
import type { Check, Verdict } from "../../src/review/check.ts";
import { type BreakableOptions, startBreakableServer } from "./breakable-server.ts";
import { openReviewed, type ReviewedOptions } from "./reviewed.ts";

/** Check, without its group → verdict. Whatever is no plain pass has to show something, and every finding is a sentence. */
export async function verdictsOf(
  checks: readonly Check[],
  options: ReviewedOptions,
  told: (id: string, words: string) => void = () => undefined,
): Promise<Record<string, Verdict>> {
  const reviewed = await openReviewed(options);
  const found: Record<string, Verdict> = {};
  try {
    for (const check of checks) {
      const { verdict, words, exchanges } = await reviewed.run(check);
      const name = check.id.replace(/^.*\//, "");
      found[name] = verdict;
      told(name, words);
      if (verdict !== "inconclusive") assert.match(words, /^\P{Ll}.*[.!?]$/su, `${check.id}: ${words}`);
      if (verdict === "fail" || verdict === "warn")
        assert.ok(exchanges.length > 0, `${check.id} shows nothing`);
    }
  } finally {
    await reviewed.close();
  }
  return found;
}

/** The same on a breakable server of its own. */
export async function verdictsOfBreakable(
  checks: readonly Check[],
  server: BreakableOptions,
  options: Omit<ReviewedOptions, "url" | "tokens"> & Partial<ReviewedOptions>,
): Promise<Record<string, Verdict>> {
  const started = await startBreakableServer(server);
  try {
    return await verdictsOf(checks, { ...started, ...options });
  } finally {
    await started.close();
  }
}

/** Every check by its name without the group, with one verdict. */
export function each(checks: readonly Check[], verdict: Verdict): Record<string, Verdict> {
  return Object.fromEntries(checks.map(({ id }) => [id.replace(/^.*\//, ""), verdict]));
}
