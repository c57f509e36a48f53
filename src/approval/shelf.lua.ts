/**
 * What Redis runs for approvals, each atomically: read, look, change. Each shelf is one hash of texts under their names. What has not
 * the form of either was written by somebody else: it counts for nothing, and goes when room is needed.
 */
import { ON_MASTER, script } from "../redis/script.ts";
import { MAX_LIFE_MS, MAX_TEXT_BYTES } from "./shelf.ts";

const NAME_BYTES = 45;
/** Bytes of texts that one answer carries: more than there can be, unless somebody else has filled the hash. */
const MAX_FOUND_BYTES = 24 * 1024 * 1024;

const BEGIN = `${ON_MASTER}local function live(name)
  if #name ~= ${NAME_BYTES} or redis.call('HSTRLEN', KEYS[1], name) > ${MAX_TEXT_BYTES} then return nil end
  local text = redis.call('HGET', KEYS[1], name)
  local expiry = text and tonumber(string.match(text, '^(%d+) ') or '')
  if not expiry or expiry <= now then return nil end
  return text
end
`;

/** KEYS: the hash. ARGV: names. Returns [now, name, text, …] of those that are there. */
export const READ = script(`${BEGIN}
local reply = {string.format('%.0f', now)}
for _, name in ipairs(ARGV) do
  local text = live(name)
  if text then
    reply[#reply + 1] = name
    reply[#reply + 1] = text
  end
end
return reply
`);

/** KEYS: the hash. ARGV: second halves of names; none for all. Returns as \`READ\`. */
export const LOOK = script(`${BEGIN}
local reply = {string.format('%.0f', now)}
local wanted, bytes = {}, 0
for _, about in ipairs(ARGV) do wanted[about] = true end
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  if #ARGV == 0 or wanted[string.sub(name, 24)] then
    local text = live(name)
    if text then
      reply[#reply + 1] = name
      reply[#reply + 1] = text
      bytes = bytes + #text
    end
    if bytes > ${MAX_FOUND_BYTES} then break end
  end
end
return reply
`);

/**
 * KEYS: the hash. ARGV: name, what is replaced or empty, what takes its place or empty, how many there may be, how many of one owner.
 * Returns \`done\`, \`stale\` or \`full\`. What has expired is only looked for when there is no room.
 */
export const CHANGE = script(`${BEGIN}
local name, instead, text = ARGV[1], ARGV[2], ARGV[3]
if (live(name) or '') ~= instead then return 'stale' end
if text == '' then
  redis.call('HDEL', KEYS[1], name)
  return 'done'
end
if instead == '' then
  local owner, most, mostOwn = string.sub(name, 1, 23), tonumber(ARGV[4]), tonumber(ARGV[5])
  local function full(sweeps)
    local all, own = 0, 0
    for _, other in ipairs(redis.call('HKEYS', KEYS[1])) do
      if sweeps and not live(other) then
        redis.call('HDEL', KEYS[1], other)
      else
        all = all + 1
        if string.sub(other, 1, 23) == owner then own = own + 1 end
      end
    end
    return all >= most or own >= mostOwn
  end
  if full(false) and full(true) then return 'full' end
end
redis.call('HSET', KEYS[1], name, text)
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', now + ${MAX_LIFE_MS}))
return 'done'
`);
