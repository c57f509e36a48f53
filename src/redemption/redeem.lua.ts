/**
 * What Redis runs, each atomically: redeem, refresh, release. The order of the checks is a security property, and
 * the argument for it is in docs/redemption.md. For Redis 6.2 and later.
 *
 * The epoch record is one string: `<epoch> <detector> <clock> <memory>`, where
 * detector is `run_id:master_replid` of the server that last vouched for the epoch,
 * clock is the highest server time seen (Unix seconds, written when 30 s behind),
 * memory is `kept` or `evictable`.
 */
import { script } from "../redis/script.ts";
import { CLOCK_BACK_SECONDS, CLOCK_STEP_SECONDS } from "./server-clock.ts";

/**
 * Leaves `epoch`, `memory` and `now` (string, Unix seconds) behind, or returns an error from the script.
 * KEYS[1] is the epoch record, ARGV[1] a new epoch in case one is needed, ARGV[2] an epoch that is over, or nothing.
 * `writes` is an expression of Lua: whether the record is to be written even if it says all this already.
 */
function prelude(looksAtMemory: boolean, writes = "false"): string {
  return `
local function field(info, name)
  local _, colon = string.find(info, '\\n' .. name .. ':', 1, true)
  return colon and string.match(info, '^[%w-]+', colon + 1)
end
local replication = redis.call('INFO', 'replication')
if field(replication, 'role') ~= 'master' then
  return redis.error_reply('NOTMASTER this Redis server is not a master')
end
local run, history = field(redis.call('INFO', 'server'), 'run_id'), field(replication, 'master_replid')
if not run or not history then
  return redis.error_reply('NODETECTOR INFO tells no run_id or no master_replid')
end
local detector = run .. ':' .. history
local now = redis.call('TIME')[1]

local policy = 'unknown'
local function look()
  local info = redis.call('INFO', 'memory')
  policy = field(info, 'maxmemory_policy') or policy
  if policy == 'noeviction' or field(info, 'maxmemory') == '0' then return 'kept' end
  return 'evictable'
end

local record = redis.call('GET', KEYS[1]) or ''
local epoch, vouched, clock, memory = string.match(record, '^(%S+) (%S+) (%d+) (%a+)$')
local seen = ${looksAtMemory ? "look()" : "memory"}
if not epoch or vouched ~= detector or epoch == ARGV[2]
    or tonumber(now) < tonumber(clock) - ${CLOCK_BACK_SECONDS} or (memory == 'evictable' and seen == 'kept') then
  epoch, clock, seen = ARGV[1], now, look()
elseif tonumber(now) >= tonumber(clock) + ${CLOCK_STEP_SECONDS} then
  clock = now
end
memory = seen
local wanted = epoch .. ' ' .. detector .. ' ' .. clock .. ' ' .. memory
if wanted ~= record or ${writes} then redis.call('SET', KEYS[1], wanted) end
`;
}

/**
 * KEYS: epoch record, hash of marks. ARGV: new epoch, epoch that is over, epoch of the state, expiry (Unix seconds), attempt,
 * `refuse` or `accept` (memory that evicts), `on` or `off` (comparison of epochs), jti, end of the hash (Unix milliseconds).
 * Returns [outcome or `eviction`, current epoch, time (Unix seconds)].
 */
export const REDEEM = script(`${prelude(false)}
if memory == 'evictable' and ARGV[6] == 'refuse' then return {'eviction', epoch, now} end

local function refused(outcome)
  local mark = redis.call('HGET', KEYS[2], ARGV[8])
  if mark and mark ~= ARGV[5] then return {'already_redeemed', epoch, now} end
  return {outcome, epoch, now}
end
if ARGV[7] ~= 'off' and ARGV[3] ~= epoch then return refused('epoch_mismatch') end
if tonumber(now) >= tonumber(ARGV[4]) then return refused('expired') end

if redis.call('HSETNX', KEYS[2], ARGV[8], ARGV[5]) == 1 then
  if redis.call('HLEN', KEYS[2]) == 1 then redis.call('PEXPIREAT', KEYS[2], ARGV[9]) end
  return {'redeemed', epoch, now}
end
if redis.call('HGET', KEYS[2], ARGV[8]) == ARGV[5] then return {'redeemed', epoch, now} end
return {'already_redeemed', epoch, now}
`);

/**
 * KEYS: epoch record. ARGV: new epoch, epoch that is over, `write` to find out whether the server takes writes.
 * Returns [current epoch, time (Unix seconds), `kept` or `evictable`, memory policy].
 */
export const REFRESH = script(`${prelude(true, "ARGV[3] == 'write'")}
return {epoch, now, memory, policy}
`);

/** KEYS: hash of marks. ARGV: attempt, jti. Deletes the mark if that attempt holds it, and with the last one the hash. */
export const RELEASE = script(`
if redis.call('HGET', KEYS[1], ARGV[2]) == ARGV[1] then return redis.call('HDEL', KEYS[1], ARGV[2]) end
return 0
`);
