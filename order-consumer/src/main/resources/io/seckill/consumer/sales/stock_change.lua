#!lua flags=allow-oom
-- stock_change.lua: add units to a sale's stock, take them from it, or put taken ones back; each once per change id.
--
-- KEYS  1 the SKU's hash  2 its stock  3 its stock changes    one hash tag, so one cluster slot
-- ARGV  1 change id  2 epoch of the sale the change belongs to  3 delta in units: positive adds, negative takes
--       4 "apply" or "undo"
--       5 number of the last order that MySQL has  6 number of the last change: data that a former release has loaded
--         have none, and go on from it  7 replication id of the server, "" for any: nothing changes in other data
-- reply {answer, number of the sale's last change; 0 unless the answer is 1 or 0}, where the answer is
--       1 applied or undone, now or by an earlier call
--       0 refused, now or by an earlier call: less stock than is to be taken
--       2 Redis has a newer epoch, whose stock MySQL has counted since: nothing changed
--       3 the sale is not in Redis: nothing changed, and the server is that of argument 7
--      -1 Redis has an older epoch, or data it cannot read, or may lack orders or changes: nothing changed, try again
--         later
--
-- The outcome of an id is stored as "<epoch>:<delta>:<A applied | R refused | U undone>", also a refusal: a second
-- caller must not succeed where the first was refused. An outcome of an older epoch does not apply to this one.
-- Each stored outcome has the next number, by which a server that lacks it is recognised (docs/adr/0010).
-- Units that are taken from a shard are outside of it: the number of those that it has shown does not count any more.
-- All checks come before the first write. Headed allow-oom: an operator must get through when Redis is full.

local id, epoch, delta, undo = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == 'undo'

local function is_another_server()
  return ARGV[7] ~= '' and string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') ~= ARGV[7]
end

local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  return is_another_server() and {-1, 0} or {3, 0}
elseif kind ~= 'hash' then
  return {-1, 0}
end
local f = redis.call('HMGET', KEYS[1], 'epoch', 'expiresAt', 'seq', 'changeSeq')
local current, last = tonumber(f[1] or ''), tonumber(f[4] or ARGV[6]) or 0
if not current or not tonumber(f[2] or '') then
  return {-1, 0}
elseif current > epoch then
  return {2, 0}
elseif current < epoch then
  return {-1, 0}
end
local changes = redis.call('TYPE', KEYS[3]).ok
if redis.call('TYPE', KEYS[2]).ok ~= 'string' or (changes ~= 'hash' and changes ~= 'none') then
  return {-1, 0}
end
local stock = tonumber(redis.call('GET', KEYS[2]))
if not stock then
  return {-1, 0}
end

local known = redis.call('HGET', KEYS[3], id)
local outcome = nil
if known and string.sub(known, 1, #ARGV[2] + 1) == ARGV[2] .. ':' then
  outcome = string.sub(known, -1)
end

local function keep(letter)
  redis.call('HSET', KEYS[3], id, ARGV[2] .. ':' .. ARGV[3] .. ':' .. letter)
  redis.call('PEXPIREAT', KEYS[3], f[2])
  last = last + 1
  redis.call('HSET', KEYS[1], 'changeSeq', string.format('%.0f', last))
end

if outcome and not undo then
  return {outcome == 'A' and 1 or 0, last}
end
if (tonumber(f[3] or '') or 0) < tonumber(ARGV[5]) or last < tonumber(ARGV[6]) or is_another_server() then
  return {-1, 0}
end
if undo then
  if outcome == 'A' then
    keep('U')
    redis.call('DECRBY', KEYS[2], ARGV[3])
  end
  return {1, last}
end
if stock + delta < 0 then
  keep('R')
  return {0, last}
end
keep('A')
redis.call('INCRBY', KEYS[2], ARGV[3])
if delta < 0 and redis.call('HEXISTS', KEYS[1], 'elsewhere') == 1 then
  local clock = redis.call('TIME')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  redis.call('HSET', KEYS[1], 'elsewhere', string.format('-1:%.0f', now))
end
return {1, last}
