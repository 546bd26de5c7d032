-- ask.lua: read the stock of a shard and the number of units elsewhere; record that purchases wait for units.
--
-- KEYS  1 the shard's hash "seckill:{p}:sku:<shard>"  2 its stock
-- ARGV  1 units of all purchases that wait at this gateway  2 how long the first of them has waited, ms
--       3 a word for this gateway
-- reply {stock, units elsewhere}: the stock is 0 for a shard that Redis does not have. No more units than these are
--       in the pool, moving, and in the other shards together; -1 when that is not known: order-consumer
--       writes "elsewhere" as <units>:<Unix ms of this server>, and it counts for a second
-- Writes "asked": of each gateway that has asked lately <units>:<Unix ms since when the first waits>@<gateway>,
-- separated by spaces. A Redis that takes no writes is only read.

local VALID = 1000 -- ms
local LATELY = 500 -- ms; longer than a purchase waits
local hash = KEYS[1]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local found = redis.call('HMGET', hash, 'state', 'elsewhere', 'asked')
local units, at = string.match(found[2] or '', '^(%d+):(%d+)$')
local age = units and now - at or -1 -- below 0 also after a jump of the clock
if found[1] then
  local asked = ARGV[1] .. ':' .. now - ARGV[2] .. '@' .. ARGV[3]
  for entry, since, gateway in string.gmatch(found[3] or '', '(%d+:(%d+)@(%w+))') do
    if gateway ~= ARGV[3] and math.abs(now - since) < LATELY then
      asked = asked .. ' ' .. entry
    end
  end
  redis.pcall('HSET', hash, 'asked', asked)
end
return { tonumber(redis.call('GET', KEYS[2]) or '0') or 0, age >= 0 and age < VALID and tonumber(units) or -1 }
