#!lua flags=allow-oom
-- register.lua: enter a lane's new lease, mark a lease as over, or enter an unknown private queue.
-- KEYS  1 lanes
-- ARGV  1 token  2 lease in ms; 0 = this lease is over; -1 = enter as over, but only if unknown
-- reply 1 entered or changed · 0 known already
-- Score > 0: end of the lease by this server's clock; its owner holds the lease. Score < 0: fenced,
-- the lease is over; the number is the time of the last sign of activity in its private queue.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local lease = tonumber(ARGV[2])
if lease < 0 and redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 0
end
local score = lease > 0 and now + lease or -now
redis.call('ZADD', KEYS[1], string.format('%.0f', score), ARGV[1])
return 1
