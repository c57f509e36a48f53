/** Which parts of the code under test have run, as V8 counts them. Inputs that reach new ones are worth changing further. */
import { type Profiler, Session } from "node:inspector";

type Span = readonly [start: number, end: number];

/** See the file's header. One at a time in a process, made before the code under test is loaded. */
export class Coverage {
  readonly #session = new Session();
  /** Function → what of its text has never run. */
  readonly #unreached = new Map<string, readonly Span[]>();

  /** Starts to count; the code is then some five times slower. */
  constructor() {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** Whether anything ran since the last look that never had before; with `note` it has from now on. */
  look(note: boolean): boolean {
    let hasGrown = false;
    for (const { url, scriptId, functions } of this.#take()) {
      if (!url.includes("/src/")) continue;
      for (const { ranges } of functions) hasGrown = this.#compare(scriptId, ranges, note) || hasGrown;
    }
    return hasGrown;
  }

  close(): void {
    this.#session.post("Profiler.stopPreciseCoverage");
    this.#session.disconnect();
  }

  /** The first range is the whole function; those within it that did not run have the count 0. */
  #compare(scriptId: string, ranges: readonly Profiler.CoverageRange[], note: boolean): boolean {
    const [whole, ...parts] = ranges;
    if (whole === undefined || whole.count === 0) return false;
    const key = `${scriptId}:${whole.startOffset}`;
    const before = this.#unreached.get(key) ?? [[whole.startOffset, whole.endOffset]];
    if (before.length === 0) return false;
    const now = parts
      .filter(({ count }) => count === 0)
      .map(({ startOffset, endOffset }): Span => [startOffset, endOffset]);
    const after = before.flatMap(([start, end]) =>
      now
        .map(([from, to]): Span => [Math.max(start, from), Math.min(end, to)])
        .filter(([from, to]) => from < to),
    );
    if (note) this.#unreached.set(key, after);
    return size(after) < size(before);
  }

  #take(): readonly Profiler.ScriptCoverage[] {
    let scripts: readonly Profiler.ScriptCoverage[] = [];
    // In the same thread the answer comes before `post` returns.
    this.#session.post("Profiler.takePreciseCoverage", (error, answer) => {
      if (error !== null) throw error;
      scripts = answer.result;
    });
    return scripts;
  }
}

function size(spans: readonly Span[]): number {
  return spans.reduce((sum, [start, end]) => sum + end - start, 0);
}
