/**
 * Users of several gateways: some are honest, some send every state many times. Keeps count of what each state was answered.
 */
import { Pool } from "undici";
import { Random } from "../fuzz/random.ts";

/** Where an honest client may send the same state again: nothing was spent, or it heard nothing. */
const AGAIN: ReadonlySet<string> = new Set([
  "no_answer",
  "store_unavailable",
  "upstream_unreachable",
  "too_many_requests",
  "overloaded",
  "shutting_down",
]);
/** Answers that end a round and say what to do. */
const TOLD: ReadonlySet<string> = new Set([
  "complete",
  "already_redeemed",
  "outcome_unknown",
  "upstream_lost",
  "upstream_fault",
  "upstream_timeout",
]);
const OLD_STATES = 4_000;
/** Longest that a fault lasts and a process takes to come back, and much more. */
const PATIENCE_MS = 60_000;

/** Counts of one run. */
export interface Tally {
  /** States that a client was given. */
  issued: number;
  /** Requests that brought a state. */
  attempts: number;
  /** Answers to them by what they said. */
  readonly answers: Map<string, number>;
  /** Rounds of honest users by how they ended. */
  readonly honest: Map<string, number>;
  /** Answers that nothing documents, and honest rounds that never ended. */
  readonly untold: string[];
  /** Per round of a call: how often a client was told that it is complete. */
  readonly completed: Map<number, number>;
}

/** How a driver plays. */
export interface Play {
  readonly gateways: readonly string[];
  readonly seed: number;
  readonly workers: number;
  /** Copies of a state sent at once, and replays of old states after each round. */
  readonly copies: number;
  readonly late: number;
}

interface Round {
  readonly number: number;
  readonly state: string;
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "chaos", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
};
const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "act",
};

/** See the file's header. */
export class Driver {
  readonly tally: Tally = {
    issued: 0,
    attempts: 0,
    answers: new Map(),
    honest: new Map(),
    untold: [],
    completed: new Map(),
  };
  readonly #play: Play;
  readonly #pools: readonly Pool[];
  readonly #old: Round[] = [];
  #rounds = 0;
  #ids = 0;

  constructor(play: Play) {
    this.#play = play;
    this.#pools = play.gateways.map((url) => new Pool(url, { connections: 64, headersTimeout: PATIENCE_MS }));
  }

  /** Plays until `enough` says so; resolves when the last round has ended. */
  async run(enough: (tally: Tally) => boolean): Promise<void> {
    const workers = Array.from({ length: this.#play.workers }, async (_, index) => {
      const random = new Random(this.#play.seed + index + 1);
      while (!enough(this.tally)) await this.#round(random);
    });
    await Promise.all(workers);
  }

  /** Sends every state that is remembered once more. */
  async replayAll(): Promise<void> {
    for (let at = 0; at < this.#old.length; at += 32) {
      const some = this.#old.slice(at, at + 32);
      await Promise.all(some.map((round, index) => this.#retry(round, index % this.#pools.length)));
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }

  async #round(random: Random): Promise<void> {
    const round = await this.#ask(random);
    if (round === undefined) return;
    this.tally.issued += 1;
    if (random.oneIn(4)) {
      await this.#honest(round, random);
    } else {
      const copies = Array.from({ length: this.#play.copies }, () => random.below(this.#pools.length));
      await Promise.all(copies.map((gateway) => this.#retry(round, gateway)));
    }
    if (this.#old.length < OLD_STATES) this.#old.push(round);
    else this.#old[random.below(OLD_STATES)] = round;
    const late = Array.from({ length: this.#play.late }, () =>
      this.#retry(random.pick(this.#old), random.below(this.#pools.length)),
    );
    await Promise.all(late);
  }

  /** One who wants it done once: asks again where that is safe, and stops where the answer says so. */
  async #honest(round: Round, random: Random): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const said = await this.#retry(round, random.below(this.#pools.length));
      if (TOLD.has(said)) return count(this.tally.honest, said);
      if (!AGAIN.has(said)) return;
      if (performance.now() > until) {
        this.tally.untold.push(`an honest round found no end, last: ${said}`);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #ask(random: Random): Promise<Round | undefined> {
    const number = ++this.#rounds;
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      const { json } = await this.#post(random.below(this.#pools.length), { arguments: { round: number } });
      const state = json?.result?.requestState;
      if (typeof state === "string") return { number, state };
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    this.tally.untold.push("no question was asked for a minute");
    return undefined;
  }

  async #retry(round: Round, gateway: number): Promise<string> {
    this.tally.attempts += 1;
    const { said } = await this.#post(gateway, {
      arguments: { round: round.number },
      requestState: round.state,
      inputResponses: { q: { action: "accept", content: { ok: true } } },
    });
    count(this.tally.answers, said);
    if (said === "complete") count(this.tally.completed, round.number);
    if (!TOLD.has(said) && !AGAIN.has(said)) this.tally.untold.push(`a state was answered: ${said}`);
    return said;
  }

  async #post(
    gateway: number,
    params: Readonly<Record<string, unknown>>,
  ): Promise<{ said: string; json?: Answer }> {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: ++this.#ids,
      method: "tools/call",
      params: { _meta: META, name: "act", ...params },
    });
    let text: string;
    let status: number;
    try {
      const pool = this.#pools[gateway] as Pool;
      const response = await pool.request({ path: "/mcp", method: "POST", headers: HEADERS, body });
      status = response.statusCode;
      text = await response.body.text();
    } catch {
      return { said: "no_answer" };
    }
    try {
      const json = JSON.parse(text) as Answer;
      return { said: json.error?.data?.reason ?? json.result?.resultType ?? `status ${status}`, json };
    } catch {
      return { said: `no JSON, status ${status}` };
    }
  }
}

interface Answer {
  readonly result?: { readonly resultType?: string; readonly requestState?: unknown };
  readonly error?: { readonly data?: { readonly reason?: string } };
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
