#!lua flags=allow-oom
-- set_state.lua: stop a sale in Redis: because MySQL says it is not open, or because its data is to be replaced.
-- KEYS  1 the SKU's hash
-- ARGV  1 epoch it was found with  2 state it was found in, '' for none of either  3 state from now on
--       4 Unix ms at which the hash expires when it does not exist yet
-- reply 1 set · 0 another epoch or state: nothing changed

local sale = redis.call('HMGET', KEYS[1], 'epoch', 'state')
if (sale[1] or '') ~= ARGV[1] or (sale[2] or '') ~= ARGV[2] then
  return 0
end
local absent = redis.call('TYPE', KEYS[1]).ok == 'none'
redis.call('HSET', KEYS[1], 'state', ARGV[3])
if absent then
  redis.call('PEXPIREAT', KEYS[1], ARGV[4])
end
return 1
