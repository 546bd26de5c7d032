-- loading_finish.lua: put a SKU whose buckets are loaded on sale.
-- KEYS  1 sku  2 stock  3 skus  4 changes  5 stops    one hash tag, so one cluster slot
-- ARGV  1 epoch of the loading  2 units admissible  3 SKU id
--       4 Unix ms at which stock and changes expire
--       5 state of the sale from now on; the state of an operator's pending stop takes precedence
--       6 highest sequence stored  7 orders stored  8 units of those orders: more than at the begin of the loading
--         when MySQL has sold meanwhile
--       9.. ids of stock changes that these units include already, with their outcome
-- reply 1 done · 0 another loading has taken over, or another server: nothing was written

local begun = redis.call('HMGET', KEYS[1], 'loading', 'server', 'seq', 'admittedOrders')
if begun[1] ~= ARGV[1] or begun[2] ~= string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') then
  return 0
end
redis.call('SET', KEYS[2], ARGV[2], 'PXAT', ARGV[4])
for i = 9, #ARGV, 2 do -- Lua unpacks 8,000 values at most
  redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIREAT', KEYS[4], ARGV[4])
redis.call('SADD', KEYS[3], ARGV[3])
-- Removes SKUs whose hash no longer exists from the set. "seckill:{p}:skus" without its last s,
-- and a colon, is the prefix of these hashes.
local rules = string.sub(KEYS[3], 1, -2) .. ':'
for _, sku in ipairs(redis.call('SMEMBERS', KEYS[3])) do
  if redis.call('TYPE', rules .. sku).ok == 'none' then
    redis.call('SREM', KEYS[3], sku)
  end
end
-- The set expires with the last sale of its partition.
if redis.call('PTTL', KEYS[3]) == -1 then
  redis.call('PEXPIREAT', KEYS[3], ARGV[4])
else
  redis.call('PEXPIREAT', KEYS[3], ARGV[4], 'GT')
end
local stop = redis.call('HGET', KEYS[5], ARGV[3])
local state = stop and string.match(stop, '^%u+') or ARGV[5]
if tonumber(ARGV[6]) > tonumber(begun[3]) then
  redis.call('HSET', KEYS[1], 'seq', ARGV[6], 'settled', ARGV[6])
end
if tonumber(ARGV[7]) > tonumber(begun[4]) then
  redis.call('HSET', KEYS[1], 'admittedOrders', ARGV[7], 'publishedOrders', ARGV[7],
    'admittedUnits', ARGV[8], 'publishedUnits', ARGV[8])
end
redis.call('HSET', KEYS[1], 'state', state, 'epoch', ARGV[1])
redis.call('HDEL', KEYS[1], 'loading', 'clearing', 'server')
return 1
