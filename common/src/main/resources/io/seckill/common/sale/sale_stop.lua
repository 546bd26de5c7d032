#!lua flags=allow-oom
-- sale_stop.lua: stop admission for an operator, and note the stop until MySQL has it. A full Redis takes it, too.
-- KEYS  1 sku  2 stops    one hash tag, so one cluster slot
-- ARGV  1 SKU id  2 PAUSED or CLOSED  3 the stop as it is noted
-- reply 'STOPPED' (also when it was noted before, when the sale is being loaded, and when Redis has no sale: then
--       nothing opens it) · 'PREHEATED' or 'CLOSED': it sells nothing and cannot take this stop · 'WRONG_TYPE'
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
if ARGV[2] == 'PAUSED' and (state == 'CLOSED' or closes) then
  return 'CLOSED'
elseif state == 'PREHEATED' then
  return 'PREHEATED'
end
if not noted or string.sub(noted, 1, 6) ~= ARGV[2] then
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
end
if state == 'OPEN' or state == 'PAUSED' then
  redis.call('HSET', KEYS[1], 'state', ARGV[2])
end
return 'STOPPED'
