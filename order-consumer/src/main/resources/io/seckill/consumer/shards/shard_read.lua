-- shard_read.lua: what a shard has, and what is asked of it, at one moment.
-- KEYS  1 the shard's hash  2 its stock    one hash tag, so one cluster slot
-- reply {Unix ms, epoch, stock, units admitted, asked}: asked as gateways wrote it, "" for nothing
--       {} while the shard is not in Redis, is being loaded, or cannot be read
-- Stock and admitted units together change only when units are added, withdrawn or returned.

local f = redis.call('HMGET', KEYS[1], 'epoch', 'admittedUnits', 'asked')
local stock = redis.call('GET', KEYS[2])
local epoch, admitted, units = tonumber(f[1] or '0'), tonumber(f[2] or ''), tonumber(stock or '')
if not epoch or epoch == 0 or not admitted or not units then
  return {}
end
local clock = redis.call('TIME')
return {clock[1] * 1000 + math.floor(clock[2] / 1000), epoch, units, admitted, f[3] or ''}
