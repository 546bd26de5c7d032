#!lua flags=no-writes
-- order_status.lua: read up to 64 orders. Changes nothing.
--
-- KEYS  the set of SKUs of each partition, one on a cluster; other keys are made from the start of its
--       set "seckill:{p}:" and share its hash tag; then one that never exists: a slot that moves is TRYAGAIN
-- ARGV  1 most reads of one call, after which no further SKU is tried  2 SKU after which the first order is
--       continued, or "", with "?" in front when a key of that SKU or before it had the wrong type
--       then 4 per order: number of its key, order id, user whose bucket to look in, SKU to look in or "" for a search of all
-- reply {Redis's clock in Unix ms, ARGV[2] of the call that continues the next order or "",
--        replication id of this server if one of these orders is not there and this is no replica, else "",
--        then one text per order that is done, in their order}:
--       ""  not there, or another user's: whether that exists is not shown
--       "sku|settled|record"  the record as admit.lua wrote it
--       "?"  not known: a key where it may be has the wrong type
-- The orders of a partition share the read of its SKUs. An id without an order is looked for in each of them. Ids
-- are kept as text.

local most, seen, after = tonumber(ARGV[1]), string.match(ARGV[2], '^(%??)(.*)$')
local FIRST, FIELDS = 3, 4
local UNREADABLE = '?'
local clock = redis.call('TIME')
local reply = { string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000)), '', '' }
local reads = 0

-- include bucket_of.lua

local function sale(partition, sku)
  local prefix = partition.prefix
  local s = partition.sales[sku]
  if not s then
    reads = reads + 1
    local f = redis.pcall('HMGET', prefix .. 'sku:' .. sku, 'bucketCount', 'settled')
    s = { bucketPrefix = prefix .. 'bucket:' .. sku .. ':', absent = f.err and UNREADABLE }
    local buckets = not f.err and tonumber(f[1] or '')
    if buckets and buckets >= 1 then
      s.buckets = buckets
      s.progress = sku .. '|' .. (f[2] or '0') .. '|'
    end
    partition.sales[sku] = s
  end
  return s
end

local function find(partition, sku, user, id)
  local s = sale(partition, sku)
  if not s.buckets then
    return s.absent
  end
  reads = reads + 1
  local record = redis.pcall('HGET', s.bucketPrefix .. bucketOf(user, s.buckets), id)
  if type(record) == 'table' then
    return UNREADABLE
  elseif not record or (string.match(record, '^(%d+)|') or user) ~= user then
    return nil
  end
  return s.progress .. record
end

local partitions = {}
for i, key in ipairs(KEYS) do
  partitions[i] = { prefix = string.match(key, '^[^}]*}:'), sales = {} }
end

-- In the same order in each call.
local function skusOf(partition, key)
  if not partition.skus then
    partition.skus = redis.call('SMEMBERS', key)
    table.sort(partition.skus)
  end
  return partition.skus
end

for i = FIRST, #ARGV, FIELDS do
  local of, id, user, hint = tonumber(ARGV[i]), ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local partition = partitions[of]
  local found = hint ~= '' and find(partition, hint, user, id) or seen ~= '' and UNREADABLE
  seen = ''
  if hint == '' then
    for _, sku in ipairs(skusOf(partition, KEYS[of])) do
      if sku > after then
        if reads >= most then
          reply[2] = (found or '') .. after
          return reply
        end
        after = sku
        found = find(partition, sku, user, id) or found
        if found and found ~= UNREADABLE then
          break
        end
      end
    end
  end
  if not found and reply[3] == '' then
    local server = redis.call('INFO', 'replication')
    reply[3] = string.find(server, 'role:master', 1, true) and string.match(server, 'master_replid:(%x+)') or ''
  end
  reply[#reply + 1] = found or ''
  after = ''
end
return reply
