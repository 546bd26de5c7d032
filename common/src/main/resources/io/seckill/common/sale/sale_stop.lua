#!lua flags=allow-oom
-- sale_stop.lua: stop admission at an operator's request, and record the stop until MySQL has
-- stored it. allow-oom: it also works while Redis is full.
-- KEYS  1 sku  2 stops    one hash tag, so one cluster slot
-- ARGV  1 SKU id  2 PAUSED or CLOSED  3 the stop as it is recorded
-- reply 'STOPPED' (also when it was recorded before, when the sale is being loaded, and when Redis
--       has no sale: nothing opens it then) · 'PREHEATED' or 'CLOSED': the sale sells nothing, and
--       a pause does not apply · 'WRONG_TYPE'
-- All checks come before the first write: a script is never interleaved, and never rolled back.

for _, key in ipairs(KEYS) do
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= 'hash' then
    return 'WRONG_TYPE'
  end
end
local state = redis.call('HGET', KEYS[1], 'state')
local noted = redis.call('HGET', KEYS[2], ARGV[1])
local closes = noted and string.sub(noted, 1, 6) == 'CLOSED'
if ARGV[2] == 'PAUSED' then
  if state == 'CLOSED' or closes then
    return 'CLOSED'
  elseif state == 'PREHEATED' then
    return 'PREHEATED'
  end
end
if not noted or string.sub(noted, 1, 6) ~= ARGV[2] then
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
end
if state == 'PREHEATED' or state == 'OPEN' or state == 'PAUSED' then
  redis.call('HSET', KEYS[1], 'state', ARGV[2])
end
return 'STOPPED'
