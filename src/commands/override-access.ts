/**
 * How `revoke` and `grants` reach what all replicas share: in Redis itself, which works while gateways are down, or through the
 * admin listener of one of them, which is the only way to a gateway with the memory store.
 */
import { userInfo } from "node:os";
import { type AdminPlace, AdminRefused, listThere, removeThere, setThere } from "../admin/client.ts";
import { callerIssuers } from "../config/caller-issuers.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { loadFile, SecretError, secretLine } from "../config/secret.ts";
import { type Keyring, loadKeyring } from "../keyring.ts";
import {
  type GrantOrder,
  lifetimesOf,
  OrderRefused,
  parseGrantOrder,
  parseRevocationOrder,
  type RevocationOrder,
} from "../overrides/orders.ts";
import { OverridesFull, OverridesUnavailable } from "../overrides/overrides.ts";
import { createRedisOverrides, type RedisOverrides } from "../overrides/redis.ts";
import { type Presented, present } from "../overrides/shown.ts";
import { redisTarget } from "../redis/target-of.ts";
import { EXIT } from "./exit.ts";
import { UsageError } from "./usage-error.ts";

/** Options by name, as given. */
export type Given = ReadonlyMap<string, string>;

/** What commands do with it. */
export interface Access {
  /** Issuers of the configuration; none where only a listener is known. */
  readonly issuers: readonly string[];
  /** Paths of routes; undefined where only a listener is known. */
  readonly routes: readonly string[] | undefined;
  list(kind: "revocation" | "grant"): Promise<readonly Presented[]>;
  set(order: RevocationOrder | GrantOrder): Promise<Presented>;
  /** Undefined where there is no such entry. */
  remove(kind: "revocation" | "grant", id: string, by: string): Promise<Presented | undefined>;
  close(): Promise<void>;
}

/**
 * Opens it, works, closes it, and says in one line what stood in the way.
 * @returns the exit code
 * @throws UsageError, ConfigError, ConfigFileError; the command line prints them
 */
export async function withAccess(given: Given, work: (access: Access) => Promise<number>): Promise<number> {
  try {
    const access = await openAccess(given);
    try {
      return await work(access);
    } finally {
      await access.close();
    }
  } catch (error) {
    if (error instanceof OrderRefused) throw new UsageError(error.message);
    const known =
      error instanceof OverridesFull ||
      error instanceof OverridesUnavailable ||
      error instanceof AdminRefused;
    if (!known) throw error;
    process.stderr.write(`sealgate: ${error.message}\n`);
    return EXIT.unavailable[0];
  }
}

/** Who sets an entry, if nobody says: the user of the system. */
export function whoami(given: Given): string {
  const by = given.get("by");
  if (by !== undefined) return by;
  try {
    return userInfo().username.slice(0, 64) || "unknown";
  } catch {
    return "unknown";
  }
}

/** The order as it will be read by whoever carries it out. @throws OrderRefused */
export const checkOrder = (order: object): RevocationOrder | GrantOrder =>
  "target" in order ? parseRevocationOrder(order) : parseGrantOrder(order);

/** How a command gets there: by a configuration, or by the listener of a gateway. */
export type Way = { readonly loaded: LoadedConfig } | { readonly place: AdminPlace };

/** @throws UsageError, ConfigError, ConfigFileError */
export async function wayOf(given: Given): Promise<Way> {
  const [config, admin, tokenFile] = ["config", "admin", "token-file"].map((name) => given.get(name));
  if ((config === undefined) === (admin === undefined))
    throw new UsageError(
      `exactly one of --config and --admin is needed, found ${config === undefined ? "neither" : "both"}`,
    );
  if ((admin === undefined) !== (tokenFile === undefined))
    throw new UsageError("--admin and --token-file go together");
  return config === undefined
    ? { place: await listenerAt(admin ?? "", tokenFile ?? "") }
    : { loaded: await loadConfig(config, process.env) };
}

async function openAccess(given: Given): Promise<Access> {
  const way = await wayOf(given);
  return "loaded" in way ? await throughRedis(way.loaded) : throughListener(way.place);
}

/** What commands write to Redis with. @throws UsageError where a configuration shares nothing */
export function sharingOf({ config, secrets }: LoadedConfig): {
  readonly ring: Keyring;
  readonly keyPrefix: string;
} {
  const { redis, keys } = config;
  if (config.redemption.store !== "redis" || redis === undefined || keys === undefined) {
    throw new UsageError(
      "redemption.store is memory, so only the process itself can be told: use --admin URL and --token-file FILE, with admin.token set",
    );
  }
  return { ring: loadKeyring(secrets.keys, keys.primary, keys.next), keyPrefix: redis.keyPrefix };
}

/** The overrides in the Redis of a configuration, for one command. */
export async function redisOverridesOf(loaded: LoadedConfig): Promise<RedisOverrides> {
  const { ring, keyPrefix } = sharingOf(loaded);
  return await createRedisOverrides({
    target: redisTarget(loaded),
    keyPrefix,
    signing: () => ({ ring, audience: loaded.config.envelope.audience }),
    lifetimes: () => lifetimesOf(loaded.config),
    log: QUIET,
    now: Date.now,
    follow: false,
  });
}

/** Commands say themselves what is wrong. */
export const QUIET = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function throughRedis(loaded: LoadedConfig): Promise<Access> {
  const { config } = loaded;
  const desk = await redisOverridesOf(loaded);
  return {
    issuers: callerIssuers(config.authentication).map(({ issuer }) => issuer),
    routes: config.routes.map(({ path }) => path),
    list: async (kind) => {
      await desk.refresh();
      return desk
        .list()
        .filter((entry) => entry.kind === kind)
        .map(present);
    },
    set: async (order) => {
      warnOfKey(desk);
      return present("target" in order ? await desk.revoke(order) : await desk.grant(order));
    },
    remove: async (kind, id, by) => {
      warnOfKey(desk);
      const entry = await desk.remove(kind, id, by);
      return entry === undefined ? undefined : present(entry);
    },
    close: () => desk.close(),
  };
}

/** Gateways sign again what others have signed: where none of it has this key, they may not have it. */
function warnOfKey(desk: RedisOverrides): void {
  if (desk.sealsAlone())
    process.stderr.write(
      "warning: no entry in Redis is signed with the key that this configuration seals with; where gateways lack it, what is allowed does not hold, and no revocation or denial is taken back\n",
    );
}

async function listenerAt(admin: string, tokenFile: string): Promise<AdminPlace> {
  const url = URL.parse(admin);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new UsageError("--admin is not a URL such as http://127.0.0.1:9090");
  let token: string;
  try {
    token = secretLine((await loadFile(tokenFile)).bytes);
  } catch (error) {
    // There is no configuration whose folder a path could start at.
    if (error instanceof SecretError) {
      const message = error.message.replace(
        /\(a relative path .*\)/,
        "(a relative path starts at the working directory)",
      );
      throw new UsageError(`--token-file: ${message}`);
    }
    throw error;
  }
  return { url: url.origin, token };
}

function throughListener(place: AdminPlace): Access {
  const nameOf = { revocation: "revocations", grant: "grants" } as const;
  return {
    issuers: [],
    routes: undefined,
    list: (kind) => listThere(place, nameOf[kind]),
    set: (order) => setThere(place, order),
    remove: (kind, id) => removeThere(place, nameOf[kind], id),
    close: async () => undefined,
  };
}
