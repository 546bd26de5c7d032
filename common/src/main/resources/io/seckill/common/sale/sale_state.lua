#!lua flags=allow-oom
-- sale_state.lua: write a sale's state from MySQL to Redis. MySQL numbers the changes of a sale's
-- state, so that an older state never overrides a newer one; and no state overrides an operator's
-- stop that is not stored in MySQL yet.
-- KEYS  1 sku  2 stops    one hash tag, so one cluster slot
-- ARGV  1 state: PREHEATED, OPEN, PAUSED or CLOSED  2 the sale's epoch in MySQL  3 number of the change in MySQL
--       4 SKU id  5 the stop that MySQL has stored or refused, or the entry that no service has written, as
--       recorded in Redis: it is removed; '' for none
-- reply 'OK' (also when Redis had the state already) · 'STOPPED': a stop is pending · 'NEWER': a
--       later change was written before · 'ABSENT' · 'PREHEATING': the change is recorded, and the
--       process that ends the loading applies MySQL's state · 'OTHER_EPOCH' · 'WRONG_TYPE'
-- All checks come before the first write: a script is never interleaved, and never rolled back.

for _, key in ipairs(KEYS) do
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= 'hash' then
    return 'WRONG_TYPE'
  end
end
local stop = redis.call('HGET', KEYS[2], ARGV[4])
if stop then
  if stop ~= ARGV[5] then
    return 'STOPPED'
  end
  redis.call('HDEL', KEYS[2], ARGV[4])
end
local sale = redis.call('HMGET', KEYS[1], 'state', 'epoch', 'loading', 'stateVersion')
if not sale[1] then
  return 'ABSENT'
end
if sale[2] ~= ARGV[2] and sale[3] ~= ARGV[2] then
  return sale[1] == 'PREHEATING' and 'PREHEATING' or 'OTHER_EPOCH'
end
if (tonumber(sale[4] or '0') or 0) > tonumber(ARGV[3]) then
  return 'NEWER'
end
local state = sale[1] == 'PREHEATING' and 'PREHEATING' or ARGV[1]
if sale[1] ~= state or sale[4] ~= ARGV[3] then
  redis.call('HSET', KEYS[1], 'state', state, 'stateVersion', ARGV[3])
end
return state == 'PREHEATING' and 'PREHEATING' or 'OK'
