#!lua flags=allow-oom
-- settle.lua: remove confirmed orders from a lane's private queue and count them as published.
-- KEYS  1 lanes  2 private queue  3.. hashes of the SKUs concerned      one hash tag, one slot
-- ARGV  1 the lane's token in lanes; then per order, at least one, in the order of their confirms:
--       value, index in KEYS of its SKU's hash (0 = none), units
-- reply number of orders removed; -1 = the lane's lease is over, nothing removed
-- An order that is no longer in the queue (a repeated settle) is not counted again. Orders are
-- counted only in an existing hash: a counter alone must not make a SKU look preheated.
-- Confirms come about in the order in which the orders were pushed. One LTRIM removes the oldest orders
-- of the queue up to the first that is not confirmed, and LREM the few behind it: no search for each, and
-- the append-only file does not get each order again.
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) <= 0 then
  return -1
end
local count = (#ARGV - 1) / 3
local left = {} -- by value: how many of it are to be removed
for i = 2, #ARGV, 3 do
  left[ARGV[i]] = (left[ARGV[i]] or 0) + 1
end
local newestFirst = redis.call('LRANGE', KEYS[2], -count, -1)
local oldest = 0
for i = #newestFirst, 1, -1 do
  local n = left[newestFirst[i]] or 0
  if n == 0 then
    break
  end
  left[newestFirst[i]] = n - 1
  oldest = oldest + 1
end
if oldest > 0 then
  redis.call('LTRIM', KEYS[2], 0, -(oldest + 1))
end
local orders, units, removed = {}, {}, 0
for i = 2, #ARGV, 3 do
  local value = ARGV[i]
  local gone = left[value] == 0 -- by LTRIM
  if not gone then
    left[value] = left[value] - 1
    gone = redis.call('LREM', KEYS[2], -1, value) == 1
  end
  if gone then
    removed = removed + 1
    local key = tonumber(ARGV[i + 1])
    if key > 0 then
      orders[key] = (orders[key] or 0) + 1
      units[key] = (units[key] or 0) + tonumber(ARGV[i + 2])
    end
  end
end
for key, n in pairs(orders) do
  if redis.call('TYPE', KEYS[key]).ok == 'hash' then
    redis.call('HINCRBY', KEYS[key], 'publishedOrders', n)
    redis.call('HINCRBY', KEYS[key], 'publishedUnits', units[key])
  end
end
return removed
