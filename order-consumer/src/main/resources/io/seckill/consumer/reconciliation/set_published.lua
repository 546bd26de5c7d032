#!lua flags=allow-oom
-- set_published.lua: count all admitted orders as published, for a SKU without orders in Redis's lists.
-- KEYS  1 the SKU's hash
-- ARGV  1 epoch  2 admission sequence since before the lists were seen empty  3 orders published, as they were read
-- reply 1 set · 0 something has moved: nothing changed
-- Orders that left the lists without a confirm were lost there, and are counted when they are sent again.

local sale = redis.call('HMGET', KEYS[1], 'epoch', 'seq', 'publishedOrders', 'admittedOrders', 'admittedUnits')
if sale[1] ~= ARGV[1] or sale[2] ~= ARGV[2] or sale[3] ~= ARGV[3] or not sale[4] or not sale[5] then
  return 0
end
redis.call('HSET', KEYS[1], 'publishedOrders', sale[4], 'publishedUnits', sale[5])
return 1
