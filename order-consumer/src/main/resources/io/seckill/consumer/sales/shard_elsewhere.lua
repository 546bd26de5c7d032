#!lua flags=allow-oom
-- shard_elsewhere.lua: show a shard's gateways how many units are outside of it, at most.
-- KEYS  1 the shard's hash
-- ARGV  1 epoch for which it was found, "" for any  2 units; -1 when they are not known any more
--       3 Unix ms by the clock of this server at which it was true, "" for this moment
--       4 what must be shown until now, "" for anything
-- reply 1 written · 0 another epoch, something else is shown, or something newer: nothing changed. A time to come is from
--       before the clock was set back, or of another server, and is not newer
-- Gateways use it for a second (docs/adr/0028). Headed allow-oom: a full Redis must be able to say no.

local f = redis.call('HMGET', KEYS[1], 'epoch', 'elsewhere')
if not f[1] or ARGV[1] ~= '' and f[1] ~= ARGV[1] or ARGV[4] ~= '' and f[2] ~= ARGV[4] then
  return 0
end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local at = tonumber(ARGV[3]) or now
local known, since = string.match(f[2] or '', '^(-?%d+):(%d+)$')
since = tonumber(since or '0')
-- Units that are not known at a moment may have come just before it.
if since <= now and (since > at or since == at and known == '-1') then
  return 0
end
redis.call('HSET', KEYS[1], 'elsewhere', string.format('%s:%.0f', ARGV[2], at))
return 1
