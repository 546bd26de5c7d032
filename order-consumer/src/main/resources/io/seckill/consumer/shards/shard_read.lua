-- shard_read.lua: what a shard has, and what is asked of it, at one moment.
-- KEYS  1 the shard's hash  2 its stock    one hash tag, so one cluster slot
-- ARGV  1 epoch in MySQL  2 number of the last order that MySQL has  3 of the last change of the stock
--       4 replication id of the server, "" for any
-- reply {Unix ms, epoch, stock, units admitted, asked}: asked as gateways wrote it, "" for nothing
--       {} while the shard is not in Redis, is being loaded, or cannot be read; and where Redis may have lost orders or
--       changes: it has another epoch, fewer of them, or is a server that is not known yet to have all
-- Data that a former release has loaded have no number of changes, and the one of MySQL may be of an earlier epoch.
-- Stock and admitted units together change only when units are added, withdrawn or returned.

local f = redis.pcall('HMGET', KEYS[1], 'epoch', 'admittedUnits', 'asked', 'seq', 'changeSeq')
local stock = redis.pcall('GET', KEYS[2])
if f.err or type(stock) ~= 'string' then
  return {}
end
local admitted, units = tonumber(f[2] or ''), tonumber(stock)
local orders, changes = tonumber(f[4] or '') or 0, tonumber(f[5] or ARGV[3]) or 0
if not admitted or not units or f[1] ~= ARGV[1] or orders < tonumber(ARGV[2]) or changes < tonumber(ARGV[3]) then
  return {}
end
if ARGV[4] ~= '' and string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') ~= ARGV[4] then
  return {}
end
local clock = redis.call('TIME')
return {clock[1] * 1000 + math.floor(clock[2] / 1000), tonumber(f[1]), units, admitted, f[3] or ''}
