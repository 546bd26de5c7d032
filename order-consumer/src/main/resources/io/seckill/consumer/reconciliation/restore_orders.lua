-- restore_orders.lua: write orders of one bucket that MySQL has and Redis has not; what is there stays.
-- KEYS  1 the SKU's hash  2 the bucket    one hash tag, so one cluster slot
-- ARGV  1 epoch, then per order: order id, record, field of its request ("" for none), value of its request
-- reply number of orders with something written; 0 when the epoch is another

local sale = redis.call('HMGET', KEYS[1], 'epoch', 'expiresAt')
if sale[1] ~= ARGV[1] or not sale[2] then
  return 0
end
local restored = 0
for i = 2, #ARGV, 4 do
  local written = redis.call('HSETNX', KEYS[2], ARGV[i], ARGV[i + 1])
  if ARGV[i + 2] ~= '' then
    written = written + redis.call('HSETNX', KEYS[2], ARGV[i + 2], ARGV[i + 3])
  end
  restored = restored + (written > 0 and 1 or 0)
end
redis.call('PEXPIREAT', KEYS[2], sale[2])
return restored
