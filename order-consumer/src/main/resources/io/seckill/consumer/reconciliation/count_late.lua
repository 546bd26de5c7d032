-- count_late.lua: count orders of an older epoch, which arrived after this one was loaded, as admitted and published.
-- KEYS  1 the SKU's hash
-- ARGV  1 epoch  2 field late as it was read, "" for none  3 admission sequence as it was read
--       4 orders for the sequence  5 orders  6 units
-- reply 1 done · 0 the epoch is another, late orders were counted meanwhile, or a server took over that lacks
--       admissions, which a higher sequence would hide: nothing was written
-- Admissions may go on: they move both sides of the comparison that found these orders.

local sale = redis.call('HMGET', KEYS[1], 'epoch', 'late', 'seq')
if sale[1] ~= ARGV[1] or (sale[2] or '') ~= ARGV[2] or tonumber(sale[3] or '0') < tonumber(ARGV[3]) then
  return 0
end
redis.call('HINCRBY', KEYS[1], 'late', 1)
redis.call('HINCRBY', KEYS[1], 'seq', ARGV[4])
for _, counter in ipairs({'admitted', 'published'}) do
  redis.call('HINCRBY', KEYS[1], counter .. 'Orders', ARGV[5])
  redis.call('HINCRBY', KEYS[1], counter .. 'Units', ARGV[6])
end
return 1
