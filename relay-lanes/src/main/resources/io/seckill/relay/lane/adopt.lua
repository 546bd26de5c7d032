#!lua flags=allow-oom
-- adopt.lua: move orders of a dead lane's private queue into a live lane's, oldest first.
-- KEYS  1 lanes  2 the adopter's private queue  3 the dead private queue
-- ARGV  1 the adopter's token  2 the dead token  3 most orders to move, 1..4096
-- reply {n, order...}: n = length of the adopter's private queue afterwards; {-1} = the adopter's
--       own lease is over; {-2} = the other lease is in force. Nothing is moved then
-- Fences the dead lease: from here on its renew, claim and settle are refused, and its quiet period
-- starts again.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local own = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not own or tonumber(own) <= 0 then
  return {-1}
end
local other = redis.call('ZSCORE', KEYS[1], ARGV[2])
if other and tonumber(other) > now then
  return {-2}
end
redis.call('ZADD', KEYS[1], string.format('%.0f', -now), ARGV[2])
local newestFirst = redis.call('LRANGE', KEYS[3], -tonumber(ARGV[3]), -1)
local n = #newestFirst
local reply = {0}
if n > 0 then
  for i = n, 1, -1 do
    reply[n - i + 2] = newestFirst[i]
  end
  redis.call('LPUSH', KEYS[2], unpack(reply, 2))
  redis.call('LTRIM', KEYS[3], 0, -(n + 1))
end
reply[1] = redis.call('LLEN', KEYS[2])
return reply
