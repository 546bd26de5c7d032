#!lua flags=allow-oom
-- forget.lua: remove dead private queues from the registry that were empty for the quiet period.
-- KEYS  1 lanes  2 prefix of private queues; it never exists: a slot that moves is TRYAGAIN, since
--       a queue that has not arrived at its new node looks empty there
-- ARGV  1 quiet period in ms
-- reply number of leases removed
-- The orphan search finds a claim that arrives even later.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local ended = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'WITHSCORES')
local removed = 0
for i = 1, #ended, 2 do
  local isQuiet = math.abs(tonumber(ended[i + 1])) < now - tonumber(ARGV[1])
  if isQuiet and redis.call('LLEN', KEYS[2] .. ended[i]) == 0 then
    removed = removed + redis.call('ZREM', KEYS[1], ended[i])
  end
end
return removed
