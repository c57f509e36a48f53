/** A script that Redis runs, atomically, and the name Redis knows it by. */
import { createHash } from "node:crypto";

/** Text and name of a script. */
export interface Script {
  readonly text: string;
  /** Hex SHA-1 of the text, for EVALSHA. */
  readonly sha: string;
}

/**
 * How scripts begin whose word must be that of a master: a replica that is cut off from its master must not vouch for anything.
 * Leaves behind `now`, milliseconds by the clock of Redis.
 */
export const ON_MASTER = `
if not string.find(redis.call('INFO', 'replication'), '\\nrole:master', 1, true) then
  return redis.error_reply('NOTMASTER this Redis server is not a master')
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Makes a script of Lua text. */
export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}
