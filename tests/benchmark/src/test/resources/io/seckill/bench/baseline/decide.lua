-- decide.lua: sell one unit to one user and record it, or change nothing. No outbox: nobody else learns of the order.
-- KEYS  1 stock  2 orders by request  3 units by user    one hash tag
-- ARGV  1 user  2 idempotency key  3 order id  4 units per user
-- reply ACCEPTED, REPEATED, QUOTA_EXCEEDED or SOLD_OUT
local request = ARGV[1] .. ':' .. ARGV[2]
if redis.call('HEXISTS', KEYS[2], request) == 1 then
  return 'REPEATED'
end
if tonumber(redis.call('GET', KEYS[1])) < 1 then
  return 'SOLD_OUT'
end
if tonumber(redis.call('HGET', KEYS[3], ARGV[1]) or '0') >= tonumber(ARGV[4]) then
  return 'QUOTA_EXCEEDED'
end
redis.call('DECR', KEYS[1])
redis.call('HINCRBY', KEYS[3], ARGV[1], 1)
redis.call('HSET', KEYS[2], request, ARGV[3])
return 'ACCEPTED'
