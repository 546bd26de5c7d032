#!lua flags=allow-oom
-- claim.lua: move the oldest orders of the outbox into a lane's private queue, or change nothing.
-- KEYS  1 outbox  2 private queue  3 lanes            one hash tag, so one cluster slot
-- ARGV  1 the lane's token in lanes  2 most orders to move, 0..4096; 0 only reports
-- reply {n, order...}: n = length of the private queue afterwards, orders oldest first;
--       {-1} = the lane's lease is over (its queue was adopted, or the registry lost), nothing moved
-- Moves are bulk list commands, not one RPOPLPUSH per order; LRANGE and LPUSH fail on a wrong type
-- before anything is written. allow-oom: a full Redis must still be drained.
local score = redis.call('ZSCORE', KEYS[3], ARGV[1])
if not score or tonumber(score) <= 0 then
  return {-1}
end
local reply = {0}
local most = tonumber(ARGV[2])
if most > 0 then
  local newestFirst = redis.call('LRANGE', KEYS[1], -most, -1)
  local n = #newestFirst
  if n > 0 then
    for i = n, 1, -1 do
      reply[n - i + 2] = newestFirst[i]
    end
    redis.call('LPUSH', KEYS[2], unpack(reply, 2))
    redis.call('LTRIM', KEYS[1], 0, -(n + 1))
  end
end
reply[1] = redis.call('LLEN', KEYS[2])
return reply
