#!lua flags=no-writes
-- user_orders.lua: one user's orders of one partition that have no result yet. Changes nothing.
--
-- KEYS  1 set of the partition's SKUs; other keys are made from ARGV[1] and share its hash tag
-- ARGV  1 key prefix "seckill:{p}:"  2 user  3 most SKUs to look at, not counting those that are gone
-- reply {Redis's clock in Unix ms, then order id and "sku|buckets|settled|rate|rateAt|record" in turn}
-- Only the user's own bucket of each SKU is read: some 25 records.

local prefix, user, most = ARGV[1], ARGV[2], tonumber(ARGV[3])
local clock = redis.call('TIME')
local reply = { string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000)) }

local function bucketOf(buckets)
  if #user <= 15 then
    return tonumber(user) % buckets
  end
  local high, low = tonumber(string.sub(user, 1, -10)), tonumber(string.sub(user, -9))
  return ((high % buckets) * (1000000000 % buckets) + low) % buckets
end

local mine = '^' .. user .. '|[^|]*|[^|]*|[^|]*|[^|]*|[^|]*|[QD]'
local seen = 0
for _, sku in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  if seen == most then
    break
  end
  local f = redis.pcall('HMGET', prefix .. 'sku:' .. sku, 'buckets', 'settled', 'rate', 'rateAt')
  local buckets = not f.err and tonumber(f[1] or '')
  if buckets and buckets >= 1 then
    seen = seen + 1
    local records = redis.pcall('HGETALL', prefix .. 'order:' .. sku .. ':' .. bucketOf(buckets))
    for j = 1, records.err and 0 or #records, 2 do
      if string.find(records[j + 1], mine) then
        reply[#reply + 1] = records[j]
        reply[#reply + 1] = sku .. '|' .. f[1] .. '|' .. (f[2] or '0') .. '|' .. (f[3] or '') .. '|' .. (f[4] or '') .. '|'
          .. records[j + 1]
      end
    end
  end
end
return reply
