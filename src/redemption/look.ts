/** One look at the epoch records of a server: what it told, and what could not be read. */
import { RedisFailure, TooLate } from "../redis/failure.ts";
import type { RedisServers } from "../redis/open.ts";
import { newEpoch, type Random } from "./epoch.ts";
import type { EpochRecord } from "./epoch-records.ts";
import { REFRESH } from "./redeem.lua.ts";

/** What turns out to be due while a look is under way is read at its end, so often; and then a second later. */
const PASSES = 3;

/** What a script has told of its server. */
export interface Told {
  readonly epoch: string;
  /** The server's clock, Unix seconds. */
  readonly time: number;
}

/** What a look needs. */
export interface LookOptions {
  readonly servers: RedisServers;
  readonly random: Random | undefined;
  /** Whether it writes what it reads, to find out whether that can be done. */
  readonly writes: boolean;
  readonly learn: (key: string, told: Told) => void;
  /** The records that are due by now. */
  readonly due: () => readonly EpochRecord[];
}

/** See the file's header. */
export class Look {
  /** What the server said of its memory, and its policy; undefined if no record could be read. */
  memory: readonly [memory: string, policy: string] | undefined;
  /** Why a record could not be read. */
  failure: RedisFailure | undefined;
  readonly #options: LookOptions;

  constructor(options: LookOptions) {
    this.#options = options;
  }

  /** Reads these, and what gets due by that. Throws `RedisFailure` where it is the whole server that fails. */
  async read(records: readonly EpochRecord[]): Promise<void> {
    let due = records;
    for (let pass = 0; pass < PASSES; pass++) {
      const [first, ...rest] = due;
      if (first === undefined) return;
      // Alone: the server may not be there, or not know the script.
      await this.#readOne(first);
      await Promise.all(rest.map((record) => this.#readOne(record)));
      due = this.#options.due().filter(({ failure }) => failure === undefined);
    }
  }

  async #readOne(record: EpochRecord): Promise<void> {
    const { servers, random, writes, learn } = this.#options;
    const { key, over, failure } = record;
    const args = [newEpoch(random), over ?? "", writes || failure ? "write" : ""];
    try {
      const reply = await servers.run(REFRESH, [key], args);
      const [epoch, time, memory, policy] = Array.isArray(reply) ? (reply as unknown[]) : [];
      if (typeof epoch !== "string") throw new RedisFailure("error", "unknown reply");
      learn(key, { epoch, time: Number(time) });
      record.teller = record.over === undefined ? servers.linkTo(key) : undefined;
      record.failure = undefined;
      this.memory = [String(memory), String(policy)];
    } catch (error) {
      if (!(error instanceof RedisFailure) || isOfServer(error)) throw error;
      record.failure = error.reason;
      this.failure = error;
    }
  }
}

const OF_SERVER: ReadonlySet<string> = new Set(["timeout", "unreachable", "not_master", "unauthorized"]);

/** True where no other record of the server would fare better. */
function isOfServer(failure: RedisFailure): boolean {
  return OF_SERVER.has(failure.reason);
}

/** True where the server may not be there; any other failure is an answer, or it was not asked. */
export function hasNotAnswered(failure: RedisFailure): boolean {
  if (failure instanceof TooLate) return false;
  return failure.reason === "timeout" || failure.reason === "unreachable";
}
