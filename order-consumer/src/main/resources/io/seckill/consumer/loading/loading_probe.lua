-- loading_probe.lua: check whether a stopped sale could be loaded now. Changes nothing.
-- KEYS  1 sku  2 stock  3 skus  4 changes  5 stops    one hash tag, so one cluster slot
-- reply {'OK'} · {'WRONG_TYPE', key} · an error when Redis is full, read-only, without its replicas, or cannot
--       persist: the write is what such a Redis refuses

local types = {'hash', 'string', 'set', 'hash', 'hash'}
for i, key in ipairs(KEYS) do
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= types[i] then
    return {'WRONG_TYPE', key}
  end
end
local state = redis.call('HGET', KEYS[1], 'state')
if state then
  redis.call('HSET', KEYS[1], 'state', state)
end
return {'OK'}
