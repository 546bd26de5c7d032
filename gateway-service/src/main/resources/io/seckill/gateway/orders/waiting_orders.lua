#!lua flags=no-writes
-- waiting_orders.lua: read the orders of several users in one partition that have no result yet. Changes nothing.
--
-- KEYS  1 set of the partition's SKUs; other keys are made from ARGV[1] and share its hash tag
-- ARGV  1 key prefix "seckill:{p}:"  2 most work for one call: 1 per bucket looked at, 8 per bucket read
--       then one per user: its id
-- reply {Redis's clock in Unix ms, how many users are done: at least the first one, others in their order,
--        then per order: number of its user from 1, order id, "sku|bucketCount|settled|rate|rateAt|record";
--        id and text are "" for a bucket that cannot be read}
-- For each SKU only the user's own bucket is read, some 30 fields, and for a SKU with a quota only when the user
-- has taken units of it: an order without a result always holds some.

local prefix, most = ARGV[1], tonumber(ARGV[2])
local USERS, READ = 3, 8
local clock = redis.call('TIME')
local reply = { string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000)), 0 }

-- include bucket_of.lua

local sales = {}
for _, sku in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local f = redis.pcall('HMGET', prefix .. 'sku:' .. sku, 'bucketCount', 'settled', 'rate', 'rateAt', 'policy')
  local buckets = not f.err and tonumber(f[1] or '')
  if buckets and buckets >= 1 then
    sales[#sales + 1] = {
      buckets = buckets,
      prefix = prefix .. 'bucket:' .. sku .. ':',
      hasQuota = f[5] == 'LIMITED' or f[5] == 'ONE_PER_USER',
      progress = sku .. '|' .. f[1] .. '|' .. (f[2] or '0') .. '|' .. (f[3] or '') .. '|' .. (f[4] or '') .. '|'
    }
  end
end

local work = 0
for i = USERS, #ARGV do
  if i > USERS and work >= most then
    break
  end
  local user = ARGV[i]
  local mine = '^' .. user .. '|[^|]*|[^|]*|[^|]*|[^|]*|[QD]'
  for _, sale in ipairs(sales) do
    local bucket = sale.prefix .. bucketOf(user, sale.buckets)
    local units = sale.hasQuota and redis.pcall('HGET', bucket, user .. ':')
    work = work + 1
    if not sale.hasQuota or units and units ~= '0' then
      work = work + READ
      local fields = redis.pcall('HGETALL', bucket)
      if fields.err then
        fields = {}
        reply[#reply + 1], reply[#reply + 2], reply[#reply + 3] = i - USERS + 1, '', ''
      end
      for j = 1, #fields, 2 do
        if string.find(fields[j + 1], mine) then
          reply[#reply + 1] = i - USERS + 1
          reply[#reply + 1] = fields[j]
          reply[#reply + 1] = sale.progress .. fields[j + 1]
        end
      end
    end
  end
  reply[2] = i - USERS + 1
end
return reply
