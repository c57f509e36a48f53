/**
 * What Redis runs for the overrides, each atomically: read, add, put back. All entries lie in one hash, under their ids, with
 * the version of the whole in the field `version`, so that a flush takes both. A version is a random name, never a number that
 * could come again after a flush.
 */
import { script } from "../redis/script.ts";
import { MAX_ENTRIES } from "./entry.ts";

/** A hash with more fields was filled by somebody else. */
const MAX_FIELDS = 2 * MAX_ENTRIES;

/** A replica that is cut off from its master must not vouch for grants. */
const MASTER = `
if not string.find(redis.call('INFO', 'replication'), '\\nrole:master', 1, true) then
  return redis.error_reply('NOTMASTER this Redis server is not a master')
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local version = redis.call('HGET', KEYS[1], 'version') or ''
`;

/** Leaves \`size\` behind, the number of entries that have not expired. */
const SWEEP = `
local size = 0
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  if fields[i] ~= 'version' then
    local expiry = tonumber(string.match(fields[i + 1], '^(%d+) ') or '0')
    if expiry <= now then redis.call('HDEL', KEYS[1], fields[i]) else size = size + 1 end
  end
end
`;

/**
 * KEYS: the hash. ARGV: the version that is known.
 * Returns [`same`, now], or [`all`, now, version or empty, fields and values]. Times in milliseconds.
 */
export const READ = script(`${MASTER}
local stamp = string.format('%.0f', now)
if version ~= '' and version == ARGV[1] then return {'same', stamp} end
if redis.call('HLEN', KEYS[1]) > ${MAX_FIELDS} then
  return redis.error_reply('OVERFULL the hash of overrides has too many fields')
end
return {'all', stamp, version, redis.call('HGETALL', KEYS[1])}
`);

/**
 * KEYS: the hash. ARGV: the version that was read, a new one, id, value, the latest time (milliseconds) at which it is true.
 * Returns \`added\`, \`stale\` (read again and try again) or \`full\`.
 */
export const ADD = script(`${MASTER}${SWEEP}
if version ~= ARGV[1] or now > tonumber(ARGV[5]) then return 'stale' end
if size >= ${MAX_ENTRIES} then return 'full' end
redis.call('HSET', KEYS[1], ARGV[3], ARGV[4], 'version', ARGV[2])
return 'added'
`);

/**
 * KEYS: the hash. ARGV: a new version, then for each entry: id, value, and the value it takes the place of or empty.
 * An entry whose place is taken by another value by now is left out. Returns how many were put.
 */
export const PUT = script(`${MASTER}${SWEEP}
local put = 0
for i = 2, #ARGV, 3 do
  local current = redis.call('HGET', KEYS[1], ARGV[i]) or ''
  if current == ARGV[i + 2] and (current ~= '' or size < ${MAX_ENTRIES}) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    if current == '' then size = size + 1 end
    put = put + 1
  end
end
if put > 0 or version == '' then redis.call('HSET', KEYS[1], 'version', ARGV[1]) end
return put
`);
