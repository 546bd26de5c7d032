-- sale_state.lua: the Redis half of open, pause, resume and close. Which transition is legal has
-- been decided by MySQL's state; this makes Redis follow, and refuses a sale that is not loaded.
-- KEYS  1 sku
-- ARGV  1 new state: OPEN, PAUSED or CLOSED  2 the sale's epoch in MySQL
-- reply 'OK' (also when it was so already) · 'ABSENT' · 'PREHEATING' · 'OTHER_EPOCH' · 'WRONG_TYPE'

local found = redis.call('TYPE', KEYS[1]).ok
if found == 'none' then
  return 'ABSENT'
end
if found ~= 'hash' then
  return 'WRONG_TYPE'
end
local sale = redis.call('HMGET', KEYS[1], 'state', 'epoch')
if sale[1] == 'PREHEATING' then
  return 'PREHEATING'
end
if sale[2] ~= ARGV[2] then
  return 'OTHER_EPOCH'
end
if sale[1] ~= ARGV[1] then
  redis.call('HSET', KEYS[1], 'state', ARGV[1])
end
return 'OK'
