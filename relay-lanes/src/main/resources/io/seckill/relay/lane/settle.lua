#!lua flags=allow-oom
-- settle.lua: remove confirmed orders from a lane's private queue and count them as published.
-- KEYS  1 lanes  2 private queue  3.. hashes of the SKUs concerned      one hash tag, one slot
-- ARGV  1 the lane's token in lanes; then per order, at least one, in the order of their confirms:
--       value, index in KEYS of its SKU's hash (0 = none), units
-- reply number of orders removed; -1 = the lane's lease is over, nothing removed
-- An order that is no longer in the queue (a repeated settle) is not counted again. Orders are
-- counted only in an existing hash: a counter alone must not make a SKU look preheated.
-- Confirms usually come in the order of publishing. The orders are then the oldest of the queue, and
-- one LTRIM removes them: no search, and the append-only file does not get each order again.
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) <= 0 then
  return -1
end
local count = (#ARGV - 1) / 3
local newestFirst = redis.call('LRANGE', KEYS[2], -count, -1)
local oldest = #newestFirst == count
for i = 1, count do
  oldest = oldest and newestFirst[count - i + 1] == ARGV[3 * i - 1]
end
if oldest then
  redis.call('LTRIM', KEYS[2], 0, -(count + 1))
end
local orders, units, removed = {}, {}, 0
for i = 2, #ARGV, 3 do
  if oldest or redis.call('LREM', KEYS[2], -1, ARGV[i]) == 1 then
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
