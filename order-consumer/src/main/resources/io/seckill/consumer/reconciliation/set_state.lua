#!lua flags=allow-oom
-- set_state.lua: stop a sale in Redis: because MySQL says it is not open, or because its data is to be replaced.
-- KEYS  1 the SKU's hash
-- ARGV  1 epoch it was found with  2 state it was found in  3 state from now on
-- reply 1 set · 0 another epoch or state, or no sale: nothing changed

local sale = redis.call('HMGET', KEYS[1], 'epoch', 'state')
if (sale[1] or '') ~= ARGV[1] or (sale[2] or '') ~= ARGV[2] or not sale[2] then
  return 0
end
redis.call('HSET', KEYS[1], 'state', ARGV[3])
return 1
