#!lua flags=allow-oom
-- compensate.lua: return the units of one order to the stock and to the user's quota, once.
--
-- KEYS  1 the SKU's hash  2 one that never exists: a slot that moves is TRYAGAIN; every other key is made from ARGV[1],
--       shares its hash tag and so its cluster slot
-- ARGV  1 key prefix "seckill:{p}:"  2 SKU  3 user  4 order id  5 epoch of the sale the units belong to
--       6 units for the stock  7 units for the quota  8 idempotency key of the order, "" when it is not known
-- reply 1 compensated now
--       2 compensated before, or Redis has no record of the order: then it has forgotten it after compensating it,
--         or never took its units. Nothing changed
--       3 the units are of an older epoch, and the stock was counted again since: nothing changed
--       a text, the present epoch: as 3, but its loading counted the order as taken, as an unsettled dead
--         letter, so its units belong to that epoch: nothing changed
--       4 Redis does not have the sale any more: nothing changed, nothing left to compensate
--      -1 Redis has an older epoch than the units, or unreadable data: nothing changed, retry later
--
-- A quota never goes below 0; its field is deleted with its last unit. Ids stay strings: a Lua number holds 53 bits.
-- All checks come before the first write.
-- A compensated order stays for a repeat of its request and for another delivery of the compensation, for an hour, and
-- while at most 127 later orders of its bucket have ended; then all its fields are deleted. So a bucket has at most 128
-- orders that have ended. The fields "ended:<n>" list them, oldest first; "ended:range" holds "<first n>:<next n>".
-- Each call deletes a few of the orders that are due.
-- Flag allow-oom: compensation must work even when Redis is out of memory.

local prefix, sku, user, id = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local epoch, stockUnits, quotaUnits = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])

-- include bucket_of.lua

local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  return 4
elseif kind ~= 'hash' then
  return -1
end
local f = redis.call('HMGET', KEYS[1], 'epoch', 'bucketCount', 'expiresAt')
local current, buckets, expiresAt = tonumber(f[1] or ''), tonumber(f[2] or ''), tonumber(f[3] or '')
if not current or not buckets or buckets < 1 or not expiresAt then
  return -1
elseif current < epoch then
  return -1
end

local stockKey = prefix .. 'stock:' .. sku
local KEPT, MOST, AT_ONCE = 3600000, 128, 4 -- ms, orders, orders of one call; EndedOrders has the same
local bucketKey = prefix .. 'bucket:' .. sku .. ':' .. bucketOf(user, buckets)
local compensated, quota = 'compensated:' .. id, user .. ':'
local bucketKind = redis.call('TYPE', bucketKey).ok
if current > epoch then
  local record = bucketKind == 'hash' and redis.call('HGET', bucketKey, id)
  return record and string.match(record, '^%d+|%d+|%d+|%d+|(%d+)|') == f[1] and f[1] or 3
end
if redis.call('TYPE', stockKey).ok ~= 'string' or (bucketKind ~= 'hash' and bucketKind ~= 'none')
  or not tonumber(redis.call('GET', stockKey)) then
  return -1
end
if redis.call('HEXISTS', bucketKey, compensated) == 1 then
  return 2
end
local known = redis.call('HMGET', bucketKey, id, 'ended:range')
if not known[1] then
  return 2
end
local owned = 0
if quotaUnits > 0 then
  owned = tonumber(redis.call('HGET', bucketKey, quota) or '0')
  if not owned then
    return -1
  end
end

redis.call('HSET', bucketKey, compensated, ARGV[6] .. ':' .. ARGV[7])
redis.call('PEXPIREAT', bucketKey, f[3])
if stockUnits > 0 then
  redis.call('INCRBY', stockKey, ARGV[6])
end
if quotaUnits > 0 and owned > 0 then
  if owned > quotaUnits then
    redis.call('HINCRBY', bucketKey, quota, '-' .. ARGV[7])
  else
    redis.call('HDEL', bucketKey, quota)
  end
end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local first, following = string.match(known[2] or '', '^(%d+):(%d+)$')
first, following = tonumber(first or 1), tonumber(following or 1)
local ended = 'ended:' .. following
following = following + 1

local function forget(entry)
  local order, buyer, key = string.match(entry, '^(%d+):(%d+):%d+:(.*)$')
  if order then
    local request = buyer .. ':' .. key
    local value = key ~= '' and redis.call('HGET', bucketKey, request)
    if value and string.match(value, '^(%d+):') == order then
      redis.call('HDEL', bucketKey, request)
    end
    redis.call('HDEL', bucketKey, order, 'compensated:' .. order)
  end
end

for _ = 1, AT_ONCE do
  if first + 1 == following then
    break
  end
  local entry = redis.call('HGET', bucketKey, 'ended:' .. first)
  local endedAt = entry and tonumber(string.match(entry, '^%d+:%d+:(%d+):'))
  if following - first <= MOST and endedAt and now - endedAt < KEPT then
    break
  end
  forget(entry or '')
  redis.call('HDEL', bucketKey, 'ended:' .. first)
  first = first + 1
end
redis.call('HSET', bucketKey, ended, id .. ':' .. user .. ':' .. now .. ':' .. ARGV[8],
  'ended:range', first .. ':' .. following)
return 1
