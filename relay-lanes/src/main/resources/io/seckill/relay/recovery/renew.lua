#!lua flags=allow-oom
-- renew.lua: renew leases of one relay's lanes in a partition and look for dead private queues.
-- KEYS  1 lanes
-- ARGV  1 lease in ms  2 quiet period in ms  3 prefix of private queues  4.. tokens to renew
-- reply {now in ms, orders in dead queues, number of dead queues that forget.lua may remove, number
--       of tokens that are over or not registered, these tokens..., dead token...}: leases that
--       are over or have expired, with orders left
-- An expired lease is renewed unless it was fenced (adopt.lua): only fencing ends the rights of a
-- lease, and fencing is allowed once the lease has expired.
-- A lease that ends later than one given now was given before this server's clock was set back. It
-- is shortened to one given now, so that a dead lane is adopted in the usual time; a live lane
-- renews it before it ends.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local latest = string.format('%.0f', now + tonumber(ARGV[1]))
local reply = {now, 0, 0, 0}
for i = 4, #ARGV do
  local score = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if score and tonumber(score) > 0 then
    redis.call('ZADD', KEYS[1], latest, ARGV[i])
  else
    reply[4] = reply[4] + 1
    reply[#reply + 1] = ARGV[i]
  end
end
for _, token in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. latest, '+inf')) do
  redis.call('ZADD', KEYS[1], latest, token)
end
local ended = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'WITHSCORES')
for i = 1, #ended, 2 do
  local length = redis.call('LLEN', ARGV[3] .. ended[i])
  if length > 0 then
    reply[2] = reply[2] + length
    reply[#reply + 1] = ended[i]
  elseif math.abs(tonumber(ended[i + 1])) < now - tonumber(ARGV[2]) then
    reply[3] = reply[3] + 1
  end
end
return reply
