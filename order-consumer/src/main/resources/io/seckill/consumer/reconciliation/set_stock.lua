#!lua flags=allow-oom
-- set_stock.lua: replace a stock that was found wrong, if nothing has moved since it was compared.
-- KEYS  1 the SKU's hash  2 its stock    one hash tag, so one cluster slot
-- ARGV  1 epoch  2 admission sequence when it was compared  3 the same of stock changes: units that came back and were
--       withdrawn, or moved to another shard, leave the same stock  4 stock found, "" when absent  5 stock wanted
-- reply 1 set · 0 something has moved: nothing changed
-- Headed allow-oom: it replaces what is there.

local sale = redis.call('HMGET', KEYS[1], 'epoch', 'seq', 'changeSeq', 'expiresAt')
if sale[1] ~= ARGV[1] or (sale[2] or '0') ~= ARGV[2] or (sale[3] or '0') ~= ARGV[3] or not sale[4]
  or (redis.call('GET', KEYS[2]) or '') ~= ARGV[4] then
  return 0
end
redis.call('SET', KEYS[2], ARGV[5], 'PXAT', sale[4])
return 1
