#!lua flags=allow-oom
-- stock_change.lua: add units to a sale's stock, take them from it, or put taken ones back; each once per change id.
--
-- KEYS  1 the SKU's hash  2 its stock  3 its stock changes    one hash tag, so one cluster slot
-- ARGV  1 change id  2 epoch of the sale the change belongs to  3 delta in units: positive adds, negative takes
--       4 "apply" or "undo"
-- reply 1 applied or undone, now or by an earlier call
--       0 refused, now or by an earlier call: less stock than is to be taken
--       2 Redis has a newer epoch, whose stock MySQL has counted since: nothing changed
--       3 the sale is not in Redis: nothing changed
--      -1 Redis has an older epoch, or data it cannot read: nothing changed, try again later
--
-- The outcome of an id is stored as "<epoch>:<delta>:<A applied | R refused | U undone>", also a refusal: a second
-- caller must not succeed where the first was refused. An outcome of an older epoch does not apply to this one.
-- All checks come before the first write. Headed allow-oom: an operator must get through when Redis is full.

local id, epoch, delta, undo = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == 'undo'

local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  return 3
elseif kind ~= 'hash' then
  return -1
end
local f = redis.call('HMGET', KEYS[1], 'epoch', 'expiresAt')
local current = tonumber(f[1] or '')
if not current or not tonumber(f[2] or '') then
  return -1
elseif current > epoch then
  return 2
elseif current < epoch then
  return -1
end
local changes = redis.call('TYPE', KEYS[3]).ok
if redis.call('TYPE', KEYS[2]).ok ~= 'string' or (changes ~= 'hash' and changes ~= 'none') then
  return -1
end
local stock = tonumber(redis.call('GET', KEYS[2]))
if not stock then
  return -1
end

local known = redis.call('HGET', KEYS[3], id)
local outcome = nil
if known and string.sub(known, 1, #ARGV[2] + 1) == ARGV[2] .. ':' then
  outcome = string.sub(known, -1)
end

local function keep(letter)
  redis.call('HSET', KEYS[3], id, ARGV[2] .. ':' .. ARGV[3] .. ':' .. letter)
  redis.call('PEXPIREAT', KEYS[3], f[2])
end

if undo then
  if outcome == 'A' then
    keep('U')
    redis.call('DECRBY', KEYS[2], ARGV[3])
  end
  return 1
end
if outcome then
  return outcome == 'A' and 1 or 0
end
if stock + delta < 0 then
  keep('R')
  return 0
end
keep('A')
redis.call('INCRBY', KEYS[2], ARGV[3])
return 1
