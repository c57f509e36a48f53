/** What a gateway knows of one Redis server, and what it has told its operator. Without I/O but the log. */
import type { Log } from "../log.ts";
import { Breaker } from "../redis/breaker.ts";
import { describeServer, type Finding } from "../redis/description.ts";
import { ServerClock } from "./server-clock.ts";
import type { UnavailableReason } from "./store.ts";

/** What a server is judged by. */
export interface Standards {
  /** False: epochs are not compared. */
  readonly epoch: boolean;
  /** What to do with a Redis that may evict marks. */
  readonly eviction: "refuse" | "accept";
  readonly log: Log;
}

/** See the file's header. */
export class ServerState {
  readonly clock = new ServerClock();
  readonly #standards: Standards;
  readonly #store: string;
  readonly #breaker = new Breaker();
  #failure: UnavailableReason | undefined = "unreachable";
  #logged: UnavailableReason | undefined;
  #refusing = false;
  /** A redemption was refused for want of rights since the last that was not. */
  #lacking = false;
  #memory = "kept";
  #described = "";
  #findings: readonly Finding[] = [];
  #toldOfEpoch = false;
  /** Why a part of the states cannot be redeemed, as it was told. */
  #toldOfPart: UnavailableReason | undefined;
  #doubted = false;

  /** `store` names the server in the log. */
  constructor(store: string, standards: Standards) {
    this.#store = store;
    this.#standards = standards;
  }

  /** Why the server cannot be used now. */
  get failure(): UnavailableReason | undefined {
    return this.#failure;
  }

  /** True while nobody is to wait for the server. */
  get refusing(): boolean {
    return this.#breaker.open;
  }

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  /** True until a look has found out whether the server takes writes. */
  get doubted(): boolean {
    return this.#doubted || this.#failure === "error" || this.#failure === "full";
  }

  /** The server was looked at, and is as it should be but for its memory, which is weighed here. */
  seen(memory: string, policy: string): void {
    const { eviction, log } = this.#standards;
    this.answered();
    if (memory === "kept") {
      this.#succeed();
    } else if (eviction === "refuse") {
      this.fail("eviction", `maxmemory-policy is ${policy} and must be noeviction`);
    } else {
      if (this.#memory !== memory) {
        const fields = { store: this.#store, policy };
        log.warn(fields, "the store may evict marks; states it forgets can be redeemed again");
      }
      this.#succeed();
    }
    this.#memory = memory;
  }

  /** The server cannot be used. `cause` goes to the log, once for each reason. */
  fail(reason: UnavailableReason, cause: string): void {
    this.#failure = reason;
    if (this.#logged === reason) return;
    this.#logged = reason;
    const fields = { store: this.#store, reason, cause };
    if (reason === "unauthorized") this.#standards.log.error(fields, sentenceOf(cause));
    else this.#standards.log.warn(fields, "redemption store unavailable");
  }

  /** The server was waited for in vain. After some misses in a row nobody waits any more, until it is seen again. */
  miss(reason: UnavailableReason, cause: string): void {
    if (!this.#breaker.miss()) return;
    this.fail(reason, cause);
    this.#refusing = true;
    const fields = { store: this.#store, reason };
    this.#standards.log.warn(fields, "redemptions are refused without waiting until the store answers");
  }

  /** A look was answered, be it by an error: whoever waits for this server does not wait in vain. */
  answered(): void {
    this.#breaker.reset();
    this.#doubted = false;
    if (!this.#refusing) return;
    this.#refusing = false;
    this.#standards.log.info({ store: this.#store }, "redemptions wait for the store again");
  }

  /** The server answered a redemption with an error; the next look writes, to find out whom that concerns. */
  doubt(): void {
    this.#doubted = true;
  }

  /** Some epoch records cannot be used, or (undefined) all can. `cause` goes to the log, once for each reason. */
  part(reason: UnavailableReason | undefined, cause = ""): void {
    if (this.#toldOfPart === reason) return;
    this.#toldOfPart = reason;
    const { log } = this.#standards;
    const store = this.#store;
    if (reason === undefined) log.info({ store }, "all states can be redeemed again");
    else log.warn({ store, reason, cause }, "some states cannot be redeemed");
  }

  /** A redemption came through. */
  redeemed(): void {
    this.#lacking = false;
    if (!this.#breaker.open) this.#breaker.reset();
  }

  /** A redemption was refused for want of rights; the once-a-second look needs fewer. */
  lack(cause: string): void {
    if (this.#lacking || this.#failure !== undefined) return;
    this.#lacking = true;
    const fields = { store: this.#store, reason: "unauthorized", cause };
    this.#standards.log.error(fields, sentenceOf(cause));
  }

  /** An epoch of this server has changed. Said once a second at most: a Cluster has many. */
  epochChanged(): void {
    if (this.#toldOfEpoch) return;
    this.#toldOfEpoch = true;
    const fields = { store: this.#store };
    this.#standards.log.warn(fields, "the store began a new epoch; rounds in flight have to start over");
  }

  /** A second has passed. */
  tick(): void {
    this.#toldOfEpoch = false;
  }

  /** There is no such server now. */
  forget(): void {
    this.#breaker.reset();
    this.#refusing = false;
    this.#logged = undefined;
  }

  /** The link is new: `info` is what the server answers to INFO. Says what is new about it. */
  describe(info: string): void {
    const { epoch, log } = this.#standards;
    const { version, role, memory, persistence, findings } = describeServer(info);
    this.#findings = findings;
    const described = `${version}, ${role}, ${memory}, ${persistence}`;
    if (described === this.#described) return;
    this.#described = described;
    const fields = { store: this.#store };
    const restart = epoch ? "after a restart or failover open rounds start over" : "epochs are off";
    log.info(fields, `redemption store: ${described}; ${restart}`);
    if (findings.includes("old_version"))
      log.warn(fields, `${version} is older than 6.2, the oldest version that is supported`);
    if (findings.includes("replica"))
      log.warn(fields, "this Redis is a replica: nothing is redeemed until its name leads to the master");
    if (findings.includes("no_append_only_file") && !epoch)
      log.warn(
        fields,
        "epochs are off and Redis keeps no append-only file: after a restart spent states work again",
      );
  }

  #succeed(): void {
    const { log } = this.#standards;
    const fields = { store: this.#store };
    if (this.#failure !== undefined) log.info(fields, "redemption store available");
    this.#failure = undefined;
    this.#logged = undefined;
  }
}

/** Waiting does not help here: says who has to do what. `cause` is what Redis answered. */
function sentenceOf(cause: string): string {
  const what = cause.includes("NOAUTH")
    ? "Redis wants a password and got none; set redis.password"
    : cause.includes("WRONGPASS")
      ? "Redis does not accept the user name or password; check redis.username and redis.password"
      : "Redis does not give this user the rights the gateway needs; give them to it with ACL SETUSER";
  return `redemption store unavailable: ${what}`;
}
