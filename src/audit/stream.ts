/** The stream of audit records in Redis: its key, and the scripts that write and read it. */
import { script } from "../redis/script.ts";

/** @param keyPrefix `redis.keyPrefix` */
export const keyOf = (keyPrefix: string): string => `${keyPrefix}audit`;

/** Adds records; what is older than about so many is cut off. KEYS: stream. ARGV: that number, then a record each. */
export const ADD = script(`
for i = 2, #ARGV do
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'record', ARGV[i])
end
return #ARGV - 1`);

/** Reads some records, oldest first, with their ids. KEYS: stream. ARGV: first id, at most how many. */
export const RANGE = script(`return redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])`);
