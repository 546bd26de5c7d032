#!lua flags=allow-oom
-- set_stock.lua: replace a stock that was found wrong, if nothing has moved since it was compared.
-- KEYS  1 the SKU's hash  2 its stock    one hash tag, so one cluster slot
-- ARGV  1 epoch  2 admission sequence when it was compared  3 stock found, "" when absent  4 stock wanted
-- reply 1 set · 0 something has moved: nothing changed
-- Headed allow-oom: it replaces what is there.

local sale = redis.call('HMGET', KEYS[1], 'epoch', 'seq', 'expiresAt')
if sale[1] ~= ARGV[1] or (sale[2] or '0') ~= ARGV[2] or not sale[3]
  or (redis.call('GET', KEYS[2]) or '') ~= ARGV[3] then
  return 0
end
redis.call('SET', KEYS[2], ARGV[4], 'PXAT', sale[3])
return 1
