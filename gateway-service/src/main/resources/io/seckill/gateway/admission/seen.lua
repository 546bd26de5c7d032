#!lua flags=no-writes
-- seen.lua: duplicate lookup of the sold-out shield: is a purchase a repeat, and is its SKU still
-- sold out? Changes nothing.
--
-- KEYS  1 outbox, only to name the cluster slot; other keys as in admit.lua
-- ARGV  1 key prefix "seckill:{p}:"   2 replication id of the verified server
--       then 4 per purchase: SKU, user, idempotency key, quantity
-- reply the integer 0 when this is another server; else one text per purchase:
--       S|order id|settled|record  seen before: the first answer      K  key seen with another quantity
--       O  not seen, on sale, and stock is 0                          L  anything else: admit.lua decides

local prefix, expected = ARGV[1], ARGV[2]

if string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') ~= expected then
  return 0
end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function read(...)
  local answer = redis.pcall(...)
  if type(answer) == 'table' and answer.err then
    return nil, true
  end
  return answer, false
end

local function bucketOf(user, buckets)
  if #user <= 15 then
    return tonumber(user) % buckets
  end
  local high, low = tonumber(string.sub(user, 1, -10)), tonumber(string.sub(user, -9))
  return ((high % buckets) * (1000000000 % buckets) + low) % buckets
end

local function load(sku)
  local f = read('HMGET', prefix .. 'sku:' .. sku, 'state', 'opensAt', 'closesAt', 'buckets', 'settled')
  local buckets = f and tonumber(f[4] or '')
  if not buckets or buckets < 1 then
    return {}
  end
  local opens, closes = tonumber(f[2] or ''), tonumber(f[3] or '')
  return {
    buckets = buckets, settled = f[5] or '0',
    soldOut = f[1] == 'OPEN' and opens and closes and now >= opens and now < closes
      and read('GET', prefix .. 'stock:' .. sku) == '0'
  }
end

local skus, replies = {}, {}

local function find(i)
  local sku, user, key, quantity = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local s = skus[sku]
  if not s then
    s = load(sku)
    skus[sku] = s
  end
  if not s.buckets then
    return 'L'
  end
  local bucket = sku .. ':' .. bucketOf(user, s.buckets)
  local seen, broken = read('HGET', prefix .. 'req:' .. bucket, user .. ':' .. key)
  if broken then
    return 'L'
  elseif not seen then
    return s.soldOut and 'O' or 'L'
  end
  local id, seenQuantity = string.match(seen, '^(%d+):(%d+)$')
  if not id then
    return 'L'
  elseif seenQuantity ~= quantity then
    return 'K'
  end
  local record, unreadable = read('HGET', prefix .. 'order:' .. bucket, id)
  return unreadable and 'L' or 'S|' .. id .. '|' .. s.settled .. '|' .. (record or '')
end

for i = 3, #ARGV, 4 do
  replies[#replies + 1] = find(i)
end
return replies
