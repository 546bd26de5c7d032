#!lua flags=allow-oom
-- remove_sale.lua: take a sale that is over from Redis: without its rules and its stock nothing is admitted.
-- KEYS  1 the SKU's hash  2 its stock
-- ARGV  1 the highest epoch that it may have
-- reply 1 removed, or there was none · 0 it has been loaded again since: nothing changed

local epoch = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '')
if epoch and epoch > tonumber(ARGV[1]) then
  return 0
end
redis.call('DEL', KEYS[1], KEYS[2])
return 1
