#!lua flags=allow-oom
-- record_results.lua: write MySQL's decisions into the admission records of one SKU, and progress.
--
-- KEYS  1 the SKU's hash  2 one that never exists: a slot that moves is TRYAGAIN; every other key is made from ARGV[1],
--       shares its hash tag and so its cluster slot
-- ARGV  1 key prefix "seckill:{p}:"  2 SKU  3 time of results without one, Unix ms by MySQL's clock, or "" for Redis's clock
--       4 epoch of the progress, or "" when there is none to write
--       5 orders settled
--       then 5 per order: order id, user, letters of status and reason, id of the stored order or "",
--         time of this result or ""
-- reply number of records changed; -1 when the sale is gone from Redis or unreadable: nothing changed
--
-- Changes only existing records, and never to an earlier status: Q, then D, then C, then one of
-- P X E R, which is final.
-- Progress only grows, and only within the epoch it was counted in. Repeating a call has no effect.
-- Flag allow-oom: the script overwrites existing data, and shoppers must get their result even when
-- Redis is out of memory.

local RANK = { Q = 0, D = 1, C = 2, P = 3, X = 3, E = 3, R = 3 }
local FIRST, FIELDS = 6, 5

local prefix, sku, now = ARGV[1], ARGV[2], ARGV[3]
if now == '' then
  local clock = redis.call('TIME')
  now = clock[1] * 1000 + math.floor(clock[2] / 1000)
end

-- include bucket_of.lua

if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then
  return -1
end
local f = redis.call('HMGET', KEYS[1], 'bucketCount', 'epoch', 'settled')
local buckets = tonumber(f[1] or '')
if not buckets or buckets < 1 then
  return -1
end

if ARGV[4] ~= '' and f[2] == ARGV[4] and tonumber(ARGV[5]) > (tonumber(f[3] or '') or 0) then
  redis.call('HSET', KEYS[1], 'settled', ARGV[5])
end

local changed = 0
for i = FIRST, #ARGV, FIELDS do
  local id, user, letters, stored, at = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  local key = prefix .. 'bucket:' .. sku .. ':' .. bucketOf(user, buckets)
  local record = redis.pcall('HGET', key, id)
  if type(record) == 'string' then
    local admission, status = string.match(record, '^([^|]*|[^|]*|[^|]*|[^|]*|[^|]*)|(%a)')
    if status and RANK[status] and RANK[string.sub(letters, 1, 1)] > RANK[status] then
      redis.call('HSET', key, id, admission .. '|' .. letters .. '|' .. (at == '' and now or at) .. (stored == '' and '' or '|' .. stored))
      changed = changed + 1
    end
  end
end
return changed
