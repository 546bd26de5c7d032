-- lanes.lua: read the lanes of one partition, of relays and gateways, and their backlog, atomically; writes at most "pulse".
-- KEYS  1 outbox  2 one that never exists: a slot that moves is TRYAGAIN; every other key is made from ARGV[1], shares its
--       hash tag and so its cluster slot
-- ARGV  1 key prefix "seckill:{p}:"
-- reply {now in ms, orders in the outbox, its oldest order or "", 1 if this server refuses writes, else 0,
--        then per lane: member, score as the registry has it, orders in its private queue}
-- A server that is full, a replica, or cannot persist refuses this SET, also where there is no "pulse" to replace.
local written = redis.pcall('SET', ARGV[1] .. 'pulse', '', 'XX')
local t = redis.call('TIME')
local reply = { string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000)),
  redis.call('LLEN', KEYS[1]), redis.call('LINDEX', KEYS[1], -1) or '',
  type(written) == 'table' and written.err and 1 or 0 }
local lanes = redis.call('ZRANGE', ARGV[1] .. 'lanes', 0, -1, 'WITHSCORES')
for i = 1, #lanes, 2 do
  reply[#reply + 1] = lanes[i]
  reply[#reply + 1] = lanes[i + 1]
  reply[#reply + 1] = redis.call('LLEN', ARGV[1] .. 'lane:' .. lanes[i])
end
return reply
