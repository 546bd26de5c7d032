#!lua flags=allow-oom
-- set_quotas.lua: replace quotas of one bucket that were found wrong, each if it has not moved since it was read.
-- KEYS  1 the SKU's hash  2 the bucket    one hash tag, so one cluster slot
-- ARGV  1 epoch, then per user: field of the quota, units found ("" for none), units wanted ("0" for none)
-- reply per user 1 set · 0 moved; all 0 when the epoch is another
-- An admission or a compensation changes the number that was read, so this never takes one back.

local reply = {}
local sale = redis.call('HMGET', KEYS[1], 'epoch', 'expiresAt')
for i = 2, #ARGV, 3 do
  local field, found, wanted = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if sale[1] ~= ARGV[1] or not sale[2] or (redis.call('HGET', KEYS[2], field) or '') ~= found then
    reply[#reply + 1] = 0
  else
    if wanted == '0' then
      redis.call('HDEL', KEYS[2], field)
    else
      redis.call('HSET', KEYS[2], field, wanted)
    end
    reply[#reply + 1] = 1
  end
end
if sale[2] then
  redis.call('PEXPIREAT', KEYS[2], sale[2])
end
return reply
