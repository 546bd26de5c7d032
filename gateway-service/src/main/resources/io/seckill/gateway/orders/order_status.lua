#!lua flags=no-writes
-- order_status.lua: read up to 64 orders of one partition. Changes nothing.
--
-- KEYS  1 set of the partition's SKUs; other keys are made from ARGV[1] and share its hash tag
-- ARGV  1 key prefix "seckill:{p}:"
--       then 3 per order: order id, user whose bucket to look in, SKU to try first or ""
-- reply {Redis's clock in Unix ms, then one text per order}:
--       ""  not there, or in another user's bucket
--       "sku|bucketCount|settled|rate|rateAt|record"  with "" for an absent rate; the record as admit.lua wrote it
-- The orders of one batch share the read of the SKUs. Ids are kept as text.

local prefix = ARGV[1]
local clock = redis.call('TIME')
local reply = { string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000)) }

-- include bucket_of.lua

local known = {}
local function sale(sku)
  local s = known[sku]
  if not s then
    local f = redis.pcall('HMGET', prefix .. 'sku:' .. sku, 'bucketCount', 'settled', 'rate', 'rateAt')
    s = {}
    local buckets = not f.err and tonumber(f[1] or '')
    if buckets and buckets >= 1 then
      s.buckets = buckets
      s.progress = sku .. '|' .. f[1] .. '|' .. (f[2] or '0') .. '|' .. (f[3] or '') .. '|' .. (f[4] or '') .. '|'
    end
    known[sku] = s
  end
  return s
end

local function find(sku, user, id)
  local s = sale(sku)
  if not s.buckets then
    return nil
  end
  local record = redis.pcall('HGET', prefix .. 'bucket:' .. sku .. ':' .. bucketOf(user, s.buckets), id)
  return type(record) == 'string' and s.progress .. record or nil
end

local skus
for i = 2, #ARGV, 3 do
  local id, user, hint = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local found = hint ~= '' and find(hint, user, id)
  if not found then
    skus = skus or redis.call('SMEMBERS', KEYS[1])
    for _, sku in ipairs(skus) do
      found = sku ~= hint and find(sku, user, id)
      if found then
        break
      end
    end
  end
  reply[#reply + 1] = found or ''
end
return reply
