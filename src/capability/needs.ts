/**
 * What tools turned out to ask of clients that could not answer: learnt from traffic, told to operators, never enforced. Whoever
 * wants it enforced writes `capability.requires`. Bounded: a server could make up kinds for any number of tools.
 */
import type { Log } from "../log.ts";

const MAX_NEEDS = 1_000;
const KINDS: ReadonlySet<string> = new Set(["elicitation", "sampling", "roots"]);

/** One thing learnt. */
export interface LearntNeed {
  readonly route: string;
  /** The tool, prompt or resource, as audit shows it. */
  readonly target: string;
  /** A well-known capability, with its mode if it has one: `elicitation.url`. */
  readonly capability: string;
}

/** See the file's header. */
export class Needs {
  readonly #log: Log;
  readonly #known = new Map<string, LearntNeed>();

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Takes down what was missing; logs what is new.
   * @param required ClientCapabilities, as in `data.requiredCapabilities` of a refusal
   */
  note(route: string, target: string, required: unknown): void {
    for (const capability of namesIn(required)) {
      const need = { route, target, capability };
      const key = JSON.stringify(need);
      if (this.#known.has(key) || this.#known.size >= MAX_NEEDS) continue;
      this.#known.set(key, need);
      this.#log.info(
        need,
        "a server asks what this client cannot answer; capability.requires would say so first",
      );
    }
  }

  /** All that was learnt since the start, at most 1,000. */
  list(): LearntNeed[] {
    return [...this.#known.values()];
  }
}

function namesIn(required: unknown): string[] {
  if (typeof required !== "object" || required === null) return [];
  return Object.entries(required).flatMap(([name, modes]: [string, unknown]) => {
    if (!KINDS.has(name)) return [];
    const inner = typeof modes === "object" && modes !== null ? Object.keys(modes) : [];
    return inner.length === 0 ? [name] : inner.map((mode) => `${name}.${mode}`);
  });
}
