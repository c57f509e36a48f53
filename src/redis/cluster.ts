/**
 * A Redis Cluster: one link per master, each as careful as the single one, and a map of who serves which hash slot.
 * MOVED, ASK, TRYAGAIN and CLUSTERDOWN mean that nothing has run, so the script goes on to where they lead, as long as there is
 * time. A lost link is told to the caller, for then nobody knows.
 */
import { Connection, type ConnectionEvents, type RunOptions } from "./connection.ts";
import { before } from "./deadline.ts";
import { RedisFailure } from "./failure.ts";
import type { Keys, RedisServers } from "./open.ts";
import type { Script } from "./script.ts";
import { parseSlots, type Redirection, redirectionOf, SLOTS, type SlotRange, slotOf } from "./slots.ts";
import { type Address, access, type Clustered } from "./target.ts";

const LOOK_INTERVAL_MS = 1000;
const PAUSE_MS = { least: 25, most: 100 };
/** In less than this no server answers. */
const LEAST_MS = 5;
/** So many servers can be named in turn before the map is taken to be in motion. */
const HOPS_AT_ONCE = 4;

/** See the file's header. */
export class Cluster implements RedisServers {
  readonly name: string;
  readonly #target: Clustered;
  readonly #timeoutMs: number;
  readonly #events: ConnectionEvents;
  readonly #timer: NodeJS.Timeout;
  /** By `host:port`. Those the configuration names are kept whether they serve slots or not. */
  readonly #links = new Map<string, { readonly link: Connection; readonly address: Address }>();
  readonly #named: ReadonlySet<string>;
  readonly #owners: (Connection | undefined)[] = new Array(SLOTS).fill(undefined);
  #serving: ReadonlySet<Connection> = new Set();
  /** The map may be wrong. */
  #stale = true;
  #looking: Promise<void> | undefined;
  #turn = 0;
  /** Settles with the next change of the map. */
  #change = Promise.withResolvers<void>();
  #closed = false;

  /** Starts to connect to the nodes that are named. Throws an Error for a CA that cannot be used. */
  constructor(target: Clustered, timeoutMs: number, events: ConnectionEvents) {
    const { nodes } = target.cluster;
    this.name = nodes.map(nameOf).join(",");
    this.#target = target;
    this.#timeoutMs = timeoutMs;
    this.#events = events;
    this.#named = new Set(nodes.map(nameOf));
    for (const node of nodes) this.#link(node);
    this.#timer = setInterval(() => {
      if (this.#stale || [...this.#serving].some((link) => !link.ready)) void this.#look();
    }, LOOK_INTERVAL_MS).unref();
  }

  linkTo(key: string): Connection | undefined {
    return this.#owners[slotOf(key)];
  }

  async whenReady(key: string, deadline: number): Promise<boolean> {
    const slot = slotOf(key);
    for (;;) {
      const link = this.#owners[slot];
      if (link?.ready === true) return true;
      if (this.#closed || performance.now() >= deadline) return false;
      const ready = link === undefined ? [] : [link.whenReady(deadline)];
      await before<unknown>(deadline, Promise.race([this.#change.promise, ...ready]), () => undefined);
    }
  }

  async run(script: Script, keys: Keys, args: readonly string[], deadline?: number): Promise<unknown> {
    return await this.#follow(keys, deadline, (link, options) => link.run(script, keys, args, options));
  }

  async runInOrder(script: Script, keys: Keys, args: readonly string[]): Promise<unknown> {
    return await this.#follow(keys, undefined, (link, options) => link.runText(script, keys, args, options));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#changed();
    await Promise.all([...this.#links.values()].map(({ link }) => link.close()));
  }

  async #follow(
    keys: Keys,
    given: number | undefined,
    send: (link: Connection, options: RunOptions) => Promise<unknown>,
  ): Promise<unknown> {
    const slot = slotOf(keys[0]);
    const deadline = given ?? performance.now() + this.#timeoutMs;
    let hop: { readonly link: Connection; readonly asking: boolean } | undefined;
    for (let hops = 0; ; hops++) {
      // Without an owner any server will do: it says who is.
      const { link, asking } = hop ?? { link: this.#owners[slot] ?? this.#anyLink(), asking: false };
      try {
        return await send(link, { deadline, asking });
      } catch (error) {
        const redirection = redirectionOf(error, this.#addressOf(link));
        if (redirection === undefined) throw error;
        // Who has answered is there; it is the time that runs out.
        const failed = (reason: "unreachable" | "not_served") =>
          new RedisFailure(reason, (error as RedisFailure).message);
        if (this.#closed) throw failed("unreachable");
        hop = this.#hop(slot, redirection);
        if (redirection.kind === "later" || hops >= HOPS_AT_ONCE) await this.#pause(deadline);
        // Not to be had, or dropped meanwhile: the owner, whoever that is by now.
        if (hop !== undefined && !(await hop.link.whenReady(deadline))) hop = undefined;
        if (performance.now() + LEAST_MS >= deadline) throw failed("not_served");
      }
    }
  }

  /** Where the script goes next; undefined for the owner of the slot. */
  #hop(slot: number, redirection: Redirection): { link: Connection; asking: boolean } | undefined {
    if (redirection.kind !== "ask") {
      this.#stale = true;
      void this.#look();
    }
    if (redirection.kind === "later") return undefined;
    const link = this.#link(redirection.to);
    if (redirection.kind === "moved") this.#adopt([{ first: slot, last: slot, master: redirection.to }]);
    return { link, asking: redirection.kind === "ask" };
  }

  async #pause(deadline: number): Promise<void> {
    const ms = PAUSE_MS.least + Math.random() * (PAUSE_MS.most - PAUSE_MS.least);
    await before(Math.min(deadline, performance.now() + ms), new Promise(() => undefined), () => undefined);
  }

  /** Asks the next server that answers who serves which slots. */
  #look(): Promise<void> {
    this.#looking ??= this.#readMap().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #readMap(): Promise<void> {
    const ready = [...this.#links.values()].filter(({ link }) => link.ready);
    const next = ready[this.#turn++ % Math.max(1, ready.length)];
    if (next === undefined) return;
    try {
      const ranges = parseSlots(await next.link.command("CLUSTER", "SLOTS"), next.address);
      if (ranges.length === 0 || this.#closed) return;
      this.#owners.fill(undefined);
      this.#adopt(ranges);
      // A slot that nobody serves may get a server at any time, and no answer says so.
      this.#stale = this.#owners.includes(undefined);
      this.#drop();
    } catch (error) {
      // Another server is asked the next time.
      if (!(error instanceof RedisFailure)) throw error;
      if (this.#serving.size === 0) this.#events.lost(next.link, error.reason, error.message);
    }
  }

  #adopt(ranges: readonly SlotRange[]): void {
    for (const { first, last, master } of ranges) this.#owners.fill(this.#link(master), first, last + 1);
    const before = this.#serving;
    this.#serving = new Set(this.#owners.filter((link) => link !== undefined));
    this.#changed();
    for (const link of this.#serving) if (!before.has(link) && link.ready) this.#events.ready(link);
  }

  /** Ends links to servers that neither serve nor are named. */
  #drop(): void {
    for (const [name, { link }] of this.#links) {
      if (this.#named.has(name) || this.#serving.has(link)) continue;
      this.#links.delete(name);
      void link.close();
    }
  }

  #link(address: Address): Connection {
    const name = nameOf(address);
    const known = this.#links.get(name);
    if (known !== undefined) return known.link;
    const { username, password, tls } = this.#target;
    const link = new Connection(
      {
        name,
        locate: () => address,
        timeoutMs: this.#timeoutMs,
        ...access(username, password, tls),
      },
      {
        ready: (link) => {
          if (this.#stale) void this.#look();
          if (this.#serving.has(link)) this.#events.ready(link);
        },
        lost: (link, reason, cause) => {
          if (this.#serving.size > 0 && !this.#serving.has(link)) return;
          this.#stale = true;
          void this.#look();
          this.#events.lost(link, reason, cause);
        },
      },
    );
    this.#links.set(name, { link, address });
    return link;
  }

  #anyLink(): Connection {
    const links = [...this.#links.values()].map(({ link }) => link);
    return links.find((link) => link.ready) ?? (links[0] as Connection);
  }

  #addressOf(link: Connection): Address {
    for (const entry of this.#links.values()) if (entry.link === link) return entry.address;
    return this.#target.cluster.nodes[0] as Address;
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }
}

const nameOf = ({ host, port }: Address): string => `${host}:${port}`;
