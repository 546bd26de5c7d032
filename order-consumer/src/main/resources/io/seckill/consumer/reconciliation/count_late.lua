-- count_late.lua: count orders of an older epoch, which arrived after this one was loaded, as admitted and published.
-- KEYS  1 the SKU's hash
-- ARGV  1 epoch  2 field late as it was read, "" for none  3 orders for the sequence  4 orders  5 units
-- reply 1 done · 0 the epoch is another, or late orders were counted meanwhile: nothing was written
-- Admissions may go on: they move both sides of the comparison that found these orders.

local sale = redis.call('HMGET', KEYS[1], 'epoch', 'late')
if sale[1] ~= ARGV[1] or (sale[2] or '') ~= ARGV[2] then
  return 0
end
redis.call('HINCRBY', KEYS[1], 'late', 1)
redis.call('HINCRBY', KEYS[1], 'seq', ARGV[3])
for _, counter in ipairs({'admitted', 'published'}) do
  redis.call('HINCRBY', KEYS[1], counter .. 'Orders', ARGV[4])
  redis.call('HINCRBY', KEYS[1], counter .. 'Units', ARGV[5])
end
return 1
