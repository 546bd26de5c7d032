-- loading_begin.lua: take a SKU off sale in Redis and write its new rules, or change nothing.
-- KEYS  1 sku  2 stock  3 skus  4 changes    one hash tag, so one cluster slot
-- ARGV  1 epoch, higher than any before   2 bucket count of the new epoch
--       3 Unix ms at which the rules expire (earlier than the rest)   4 highest sequence stored
--       5 orders stored   6 units of those orders
--       7 AT_REST refuses a sale that has orders in flight; ANYTHING replaces all data, because it
--         is known to be lost or wrong. Both refuse a running sale. With ANYTHING, or a sequence
--         that is above that of Redis, the counters come from MySQL alone
--       8.. rules as field, value, field, value
-- reply {'OK', buckets to clear} · {'SALE_RUNNING', state} · {'ORDERS_IN_FLIGHT', how many}
--       · {'STALE_EPOCH', epoch found} · {'WRONG_TYPE', key}
-- Until loading_finish the state is PREHEATING and the epoch 0: nothing is admitted, and compensations
-- of any epoch find no sale to return units to yet. A crash leaves it in this state; the next
-- loading starts over. A server that takes over in between may lack some of it: the replication id of
-- this one is kept, and the later scripts compare it.
-- All checks come before the first write: a script is never interleaved, and never rolled back.

local types = {'hash', 'string', 'set', 'hash'}
for i, key in ipairs(KEYS) do
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= types[i] then
    return {'WRONG_TYPE', key}
  end
end

local sku = KEYS[1]
local old = redis.call('HMGET', sku, 'state', 'epoch', 'loading', 'seq', 'settled', 'bucketCount',
  'clearing', 'admittedOrders', 'admittedUnits')
local function number(i)
  return tonumber(old[i] or '0') or 0
end

-- Of an epoch or sequence that is ahead of MySQL's by more than ProductRows.MOST_AHEAD, which is wrong, 0.
local function ahead(i, ofMySql)
  local found = number(i)
  return found - tonumber(ofMySql) > 1000000000 and 0 or found
end

local anything = ARGV[7] == 'ANYTHING'
if old[1] == 'OPEN' or old[1] == 'PAUSED' then
  return {'SALE_RUNNING', old[1]}
end
local epoch = math.max(ahead(2, ARGV[1]), ahead(3, ARGV[1]))
if epoch >= tonumber(ARGV[1]) then
  return {'STALE_EPOCH', string.format('%.0f', epoch)}
end
local known = ahead(4, ARGV[4])
local seq = math.max(known, tonumber(ARGV[4]))
local inFlight = known - math.max(number(5), tonumber(ARGV[4]))
if not anything and inFlight > 0 then
  return {'ORDERS_IN_FLIGHT', string.format('%.0f', inFlight)}
end

-- The buckets that an unfinished loading had to clear still have to be cleared.
local clearing = string.format('%.0f', math.max(number(6), number(7), tonumber(ARGV[2])))
local replaced = anything or known < tonumber(ARGV[4])
local orders = string.format('%.0f', math.max(replaced and 0 or number(8), tonumber(ARGV[5])))
local units = string.format('%.0f', math.max(replaced and 0 or number(9), tonumber(ARGV[6])))
seq = string.format('%.0f', seq)

redis.call('UNLINK', KEYS[2], KEYS[4]) -- outcomes of changes count in their epoch alone
redis.call('HSET', sku, 'state', 'PREHEATING', 'epoch', '0', 'loading', ARGV[1],
  'server', string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)'),
  'bucketCount', ARGV[2], 'clearing', clearing, 'seq', seq, 'settled', seq, 'changeSeq', '0',
  'admittedOrders', orders, 'admittedUnits', units,
  'publishedOrders', orders, 'publishedUnits', units, unpack(ARGV, 8))
redis.call('HDEL', sku, 'stateVersion', 'extending', 'elsewhere', 'asked', 'rate', 'rateAt',
  'buckets') -- the last three of a former release, which must not admit on what this one writes
redis.call('PEXPIREAT', sku, ARGV[3])
return {'OK', clearing}
