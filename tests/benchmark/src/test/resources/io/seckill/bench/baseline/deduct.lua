-- deduct.lua: take one cent from a balance and append it to the list, or change nothing. The usual recipe, with its bounds.
-- KEYS  1 balance  2 idempotency key, for five minutes  3 list, its last 100,000    one hash tag
-- ARGV  1 <user>:<charge>
-- reply DONE, REPEATED or INSUFFICIENT_FUNDS
if redis.call('EXISTS', KEYS[2]) == 1 then
  return 'REPEATED'
end
if tonumber(redis.call('GET', KEYS[1]) or '0') < 1 then
  return 'INSUFFICIENT_FUNDS'
end
redis.call('SET', KEYS[2], '1', 'EX', 300)
redis.call('DECR', KEYS[1])
redis.call('RPUSH', KEYS[3], ARGV[1])
redis.call('LTRIM', KEYS[3], -100000, -1)
return 'DONE'
