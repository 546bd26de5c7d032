#!lua flags=no-writes
-- waiting_orders.lua: read the orders of several users in one partition that have no result yet. Changes nothing.
--
-- KEYS  1 set of the partition's SKUs  2 one that never exists: a slot that moves is TRYAGAIN; other keys are made from
--       ARGV[1] and share its hash tag
-- ARGV  1 key prefix "seckill:{p}:"  2 most fields for one call, after which no further bucket is read
--       3 most fields of a bucket that is read  4 SKU after which the first user is continued, or ""
--       then one per user: its id
-- reply {Redis's clock in Unix ms, how many users are done, in their order,
--        SKU after which the next user is to be continued, or "", replication id of this server, "" of a replica,
--        then per order: number of its user from 1, order id, "sku|settled|record";
--        id "" and text "large" for a bucket with too many fields, and for a sale that cannot be read, id and text ""
--        for a bucket that cannot be read}
-- For each SKU only the user's own bucket is read, some 30 fields, and for a SKU with a quota only when the user
-- has taken units of it: an order without a result always holds some. Users who buy and cancel for long make a
-- bucket of any size, so its fields are counted before it is read. One bucket at least is read by each call.

local prefix, most, largest, after = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local USERS, LOOK = 5, 4 -- a bucket looked at counts as four fields
local clock = redis.call('TIME')
local server = redis.call('INFO', 'replication')
local reply = {
  string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000)), 0, '',
  string.find(server, 'role:master', 1, true) and string.match(server, 'master_replid:(%x+)') or ''
}

-- include bucket_of.lua

local skus = redis.call('SMEMBERS', KEYS[1])
table.sort(skus) -- the same order in each call
local sales = {}
for _, sku in ipairs(skus) do
  local f = redis.pcall('HMGET', prefix .. 'sku:' .. sku, 'bucketCount', 'settled', 'policy')
  local buckets = not f.err and tonumber(f[1] or '')
  if f.err then
    sales[#sales + 1] = { sku = sku }
  elseif buckets and buckets >= 1 then
    sales[#sales + 1] = {
      sku = sku,
      buckets = buckets,
      prefix = prefix .. 'bucket:' .. sku .. ':',
      hasQuota = f[3] == 'LIMITED' or f[3] == 'ONE_PER_USER',
      progress = sku .. '|' .. (f[2] or '0') .. '|'
    }
  end
end

local function add(number, id, text)
  reply[#reply + 1] = number
  reply[#reply + 1] = id
  reply[#reply + 1] = text
end

-- Reads the user's orders of a sale and returns how many fields that counts.
local function read(number, user, sale)
  if not sale.buckets then
    add(number, '', 'large')
    return LOOK
  end
  local bucket = sale.prefix .. bucketOf(user, sale.buckets)
  local units = sale.hasQuota and redis.pcall('HGET', bucket, user .. ':')
  if sale.hasQuota and (not units or units == '0') then
    return LOOK
  end
  local size = redis.pcall('HLEN', bucket)
  if type(size) ~= 'number' then
    add(number, '', '')
    return LOOK
  elseif size > largest then
    add(number, '', 'large')
    return LOOK
  end
  local mine = '^' .. user .. '|[^|]*|[^|]*|[^|]*|[^|]*|[QD]'
  local fields = redis.call('HGETALL', bucket)
  for j = 1, #fields, 2 do
    if string.find(fields[j + 1], mine) then
      add(number, fields[j], sale.progress .. fields[j + 1])
    end
  end
  return LOOK + size
end

local work = 0
for i = USERS, #ARGV do
  for _, sale in ipairs(sales) do
    if sale.sku > after then
      if work >= most then
        reply[3] = after
        return reply
      end
      work = work + read(i - USERS + 1, ARGV[i], sale)
      after = sale.sku
    end
  end
  reply[2], after = i - USERS + 1, ''
end
return reply
