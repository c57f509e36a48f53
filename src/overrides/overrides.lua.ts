/**
 * What Redis runs for the overrides, each atomically: read, add, put back, drop. All entries lie in one hash, under their ids, with
 * the version of the whole in the field `version`, so that a flush takes both. A version is a random name, never a number that
 * could come again after a flush. What has not the form of an entry was written by somebody else: it is dropped wherever it is
 * met, so that it neither takes the place of entries nor is carried to gateways.
 */
import { ON_MASTER, script } from "../redis/script.ts";
import { MAX_ENTRIES, MAX_ENTRY_BYTES } from "./entry.ts";

/** Values that are carried at once. Where there are more, somebody else has filled the hash. */
const MAX_FIELDS = 2 * MAX_ENTRIES;
/** The text of an entry, with its expiry, key id and code before it. */
const MAX_VALUE_BYTES = MAX_ENTRY_BYTES + 80;
const ID_BYTES = 22;

const MASTER = `${ON_MASTER}local version = redis.call('HGET', KEYS[1], 'version') or ''
`;

/**
 * Leaves behind \`fields\`, what is left with ids and values in turn; \`size\`, how many of it has not expired; and \`dropped\`, how
 * much was no entry. ARGV[1]: what has expired by then (milliseconds), and by the clock of Redis, is dropped too. A value is
 * measured before it is read; and that nothing can be dropped (too few copies, say) does not stop a reading.
 */
const LOOK = `
local spare = math.min(now, tonumber(ARGV[1]))
local fields, size, dropped = {}, 0, 0
for _, id in ipairs(redis.call('HKEYS', KEYS[1])) do
  if id ~= 'version' then
    local value = ''
    if #id == ${ID_BYTES} and redis.call('HSTRLEN', KEYS[1], id) <= ${MAX_VALUE_BYTES} then
      value = redis.call('HGET', KEYS[1], id)
    end
    local expiry = tonumber(string.match(value, '^(%d+) ${"%x".repeat(8)}%.') or '')
    if not expiry then
      redis.pcall('HDEL', KEYS[1], id)
      dropped = dropped + 1
    elseif expiry <= spare then
      redis.pcall('HDEL', KEYS[1], id)
    else
      if expiry > now then size = size + 1 end
      fields[#fields + 1] = id
      fields[#fields + 1] = value
    end
  end
end
`;

/**
 * KEYS: the hash. ARGV: 0, the version that is known.
 * Returns [`same`, now], or [`all` or `part`, now, version or empty, fields and values, how many were dropped]. Times in
 * milliseconds. A part is what comes of a hash that somebody else has filled.
 */
export const READ = script(`${MASTER}
local stamp = string.format('%.0f', now)
if version ~= '' and version == ARGV[2] then return {'same', stamp} end
${LOOK}
local kind = 'all'
if #fields > ${2 * MAX_FIELDS} then
  kind = 'part'
  for i = #fields, ${2 * MAX_FIELDS + 1}, -1 do fields[i] = nil end
end
return {kind, stamp, version, fields, dropped}
`);

/**
 * KEYS: the hash. ARGV: see \`LOOK\`, the version that was read or \`*\` for any, a new one, id, value, the latest time
 * (milliseconds) at which it is true. Returns \`added\`, \`stale\` (read again and try again) or \`full\`.
 */
export const ADD = script(`${MASTER}${LOOK}
if (ARGV[2] ~= '*' and version ~= ARGV[2]) or now > tonumber(ARGV[6]) then return 'stale' end
if size >= ${MAX_ENTRIES} then return 'full' end
redis.call('HSET', KEYS[1], ARGV[4], ARGV[5], 'version', ARGV[3])
return 'added'
`);

/**
 * KEYS: the hash. ARGV: see \`LOOK\`, a new version, then for each entry: id, value, the value it takes the place of or empty, and
 * \`signed\` or empty. An entry whose place is taken by another value by now is left out; what is signed was bounded when it was
 * set, and comes back however much others have written. Returns how many were put.
 */
export const PUT = script(`${MASTER}${LOOK}
local put = 0
for i = 3, #ARGV, 4 do
  local current = redis.call('HGET', KEYS[1], ARGV[i]) or ''
  if current == ARGV[i + 2] and (current ~= '' or ARGV[i + 3] ~= '' or size < ${MAX_ENTRIES}) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    if current == '' then size = size + 1 end
    put = put + 1
  end
end
if put > 0 or version == '' then redis.call('HSET', KEYS[1], 'version', ARGV[2]) end
return put
`);

/** KEYS: the hash. ARGV: a new version, then ids. Drops them. Returns how many there were. */
export const DROP = script(`${MASTER}
local dropped = 0
for i = 2, #ARGV do dropped = dropped + redis.call('HDEL', KEYS[1], ARGV[i]) end
if dropped > 0 then redis.call('HSET', KEYS[1], 'version', ARGV[1]) end
return dropped
`);
