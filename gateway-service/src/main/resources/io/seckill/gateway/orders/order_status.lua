#!lua flags=no-writes
-- order_status.lua: read up to 64 orders. Changes nothing.
--
-- KEYS  the set of SKUs of each partition, one on a cluster; other keys are made from the start of its
--       set "seckill:{p}:" and share its hash tag
-- ARGV  4 per order: number of its key, order id, user whose bucket to look in, SKU to try first or ""
-- reply {Redis's clock in Unix ms, then one text per order}:
--       ""  not there, or in another user's bucket
--       "sku|bucketCount|settled|rate|rateAt|record"  with "" for an absent rate; the record as admit.lua wrote it
-- The orders of a partition share the read of its SKUs. Ids are kept as text.

local clock = redis.call('TIME')
local reply = { string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000)) }

-- include bucket_of.lua

local function sale(partition, sku)
  local prefix = partition.prefix
  local s = partition.sales[sku]
  if not s then
    local f = redis.pcall('HMGET', prefix .. 'sku:' .. sku, 'bucketCount', 'settled', 'rate', 'rateAt')
    s = { bucketPrefix = prefix .. 'bucket:' .. sku .. ':' }
    local buckets = not f.err and tonumber(f[1] or '')
    if buckets and buckets >= 1 then
      s.buckets = buckets
      s.progress = sku .. '|' .. f[1] .. '|' .. (f[2] or '0') .. '|' .. (f[3] or '') .. '|' .. (f[4] or '') .. '|'
    end
    partition.sales[sku] = s
  end
  return s
end

local function find(partition, sku, user, id)
  local s = sale(partition, sku)
  if not s.buckets then
    return nil
  end
  local record = redis.pcall('HGET', s.bucketPrefix .. bucketOf(user, s.buckets), id)
  return type(record) == 'string' and s.progress .. record or nil
end

local partitions = {}
for i, key in ipairs(KEYS) do
  partitions[i] = { prefix = string.match(key, '^[^}]*}:'), sales = {} }
end

for i = 1, #ARGV, 4 do
  local of, id, user, hint = tonumber(ARGV[i]), ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local partition = partitions[of]
  local found = hint ~= '' and find(partition, hint, user, id)
  if not found then
    partition.skus = partition.skus or redis.call('SMEMBERS', KEYS[of])
    for _, sku in ipairs(partition.skus) do
      found = sku ~= hint and find(partition, sku, user, id)
      if found then
        break
      end
    end
  end
  reply[#reply + 1] = found or ''
end
return reply
