-- order_result.lua: write a result that MySQL knows over the record it was computed from.
-- KEYS  1 the user's bucket
-- ARGV  1 order id  2 record as it was seen  3 record to write
-- reply 1 written · 0 another result was there first, or the record is gone: nothing was written
-- The caller only writes results that may replace the record it read, so an order's status never goes back.

if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
