#!lua flags=allow-oom
-- shard_elsewhere.lua: tell a shard's gateways how many units are outside of it, at most.
-- KEYS  1 the shard's hash
-- ARGV  1 epoch for which it was found  2 units; -1 when they are not known any more
--       3 Unix ms by the clock of this server at which it was true
-- reply 1 written · 0 another epoch, or something newer is known: nothing changed. A time to come is from before the
--       clock was set back, or of another server, and is not newer
-- Gateways use it for a second (docs/adr/0028). Headed allow-oom: a full Redis must be able to say no.

local f = redis.call('HMGET', KEYS[1], 'epoch', 'elsewhere')
if f[1] ~= ARGV[1] then
  return 0
end
local known = tonumber(string.match(f[2] or '', ':(%d+)$') or '0')
local clock = redis.call('TIME')
if known > tonumber(ARGV[3]) and known <= clock[1] * 1000 + math.floor(clock[2] / 1000) then
  return 0
end
if ARGV[2] == '-1' then
  redis.call('HDEL', KEYS[1], 'elsewhere')
else
  redis.call('HSET', KEYS[1], 'elsewhere', ARGV[2] .. ':' .. ARGV[3])
end
return 1
