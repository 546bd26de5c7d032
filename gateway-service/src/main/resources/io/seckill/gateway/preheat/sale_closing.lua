-- sale_closing.lua: one of the two steps of a later closing time. First, before the keys there are
-- get their later expiry, 'prepare' makes new keys expire later; last, 'finish' lets the sale run
-- longer and its rules live longer: rules never outlive what they rule.
-- KEYS  1 sku
-- ARGV  1 'prepare' or 'finish'  2 closing time  3 when everything but the rules expires
--       4 when the rules expire    times in Unix ms
-- reply bucket count · -1 no sale in Redis · 0 not later than what is there: nothing changed
-- Closing times only grow, so a repeat changes nothing and the order of two edits does not matter.

local sale = redis.call('HMGET', KEYS[1], 'closesAt', 'expiresAt', 'buckets')
if not sale[1] or not sale[2] or not sale[3] then
  return -1
end
if tonumber(sale[1]) >= tonumber(ARGV[2]) then
  return 0
end
if ARGV[1] == 'prepare' then
  if tonumber(sale[2]) < tonumber(ARGV[3]) then
    redis.call('HSET', KEYS[1], 'expiresAt', ARGV[3])
  end
else
  redis.call('HSET', KEYS[1], 'closesAt', ARGV[2])
  redis.call('PEXPIREAT', KEYS[1], ARGV[4])
end
return tonumber(sale[3])
