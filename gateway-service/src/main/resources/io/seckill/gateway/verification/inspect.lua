#!lua flags=no-writes
-- inspect.lua: read the server's replication id and the progress of one partition's sales. Changes
-- nothing.
--
-- KEYS  1 outbox  2 one that never exists; only to name the cluster slot, which is TRYAGAIN while it moves
-- ARGV  1 key prefix "seckill:{p}:", then the SKUs
-- reply {replication id, then per SKU: state, epoch, sequence, stock changes}; "" for what is absent or unreadable

local reply = { string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') }
for i = 2, #ARGV do
  local f = redis.pcall('HMGET', ARGV[1] .. 'sku:' .. ARGV[i], 'state', 'epoch', 'seq', 'changeSeq')
  for j = 1, 4 do
    reply[#reply + 1] = (not f.err and f[j]) or ''
  end
end
return reply
