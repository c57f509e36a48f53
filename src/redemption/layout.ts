/**
 * Where marks and epochs lie in Redis. A state has a bucket, by the first byte of its jti; the marks of a bucket that end in
 * the same minute are one hash, which Redis drops as a whole: a field of a hash takes half the memory of a key of its own.
 * The bucket is also the hash tag, so a Cluster spreads buckets over its servers. Pure.
 */
import { MAX_LEEWAY_SECONDS, type Mark } from "./store.ts";

const BUCKETS = 256;
const MINUTE_SECONDS = 60;

/** Where the mark of a state lies. */
export interface Place {
  /** The hash; its fields are jtis. */
  readonly key: string;
  /** When the hash may go, in Unix milliseconds: its last state has expired on every gateway. */
  readonly until: number;
}

/** The names of keys under a prefix. */
export interface Layout {
  /** All epoch records: one, or in a Cluster one for each bucket, since every server there has a history of its own. */
  readonly epochs: readonly string[];
  /** The epoch record that a state is sealed and redeemed under. */
  epochOf(jti: string): string;
  place(mark: Pick<Mark, "jti" | "exp">): Place;
}

/** Lays keys out. Two gateways with the same prefix on the same kind of Redis find each other's marks. */
export function layOut(prefix: string, clustered: boolean): Layout {
  const epochs = clustered
    ? Array.from({ length: BUCKETS }, (_, bucket) => `${prefix}{${hex(bucket)}}:epoch`)
    : [`${prefix}epoch`];
  return {
    epochs,
    epochOf: (jti) => epochs[clustered ? bucketOf(jti) : 0] as string,
    place({ jti, exp }) {
      const minute = Math.ceil(exp / MINUTE_SECONDS);
      return {
        key: `${prefix}{${hex(bucketOf(jti))}}:${minute}`,
        until: (minute * MINUTE_SECONDS + MAX_LEEWAY_SECONDS) * 1000,
      };
    },
  };
}

/** The first byte of what the base64url text stands for; 0 where the text is no base64url. */
function bucketOf(jti: string): number {
  return Buffer.from(jti.slice(0, 2), "base64url")[0] ?? 0;
}

const hex = (bucket: number): string => bucket.toString(16).padStart(2, "0");
