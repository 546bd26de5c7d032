-- balance_items.lua: what one partition holds, at one moment; changes nothing.
--
-- KEYS  1 outbox  2 one that never exists: a slot that moves is TRYAGAIN; every other key is made from ARGV[1], shares its
--       hash tag and so its cluster slot
-- ARGV  1 key prefix "seckill:{p}:"
-- reply {now in ms, orders in the outbox, its oldest order or "", orders in private queues,
--        those of them that lie in queues of lanes that are dead or have let their lease lapse,
--        then per SKU preheated: SKU, stock, epoch, seq, admitted orders, units, published orders, units}
--        a stock or field that is absent or unreadable is "", a SKU whose hash is unreadable is left out
--
-- One call, so that an order on its way from the outbox to the broker is counted once: claim, settle and adopt move
-- it in scripts or single commands. Lengths and counters only; the cost grows with lanes and SKUs, never with orders.
local prefix = ARGV[1]
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)

-- A lease with more time left than this was given before this server's clock was set back.
local LONGEST_LEASE_MS = 300000

local alive, dead = 0, 0
local lanes = redis.call('ZRANGE', prefix .. 'lanes', 0, -1, 'WITHSCORES')
for i = 1, #lanes, 2 do
  local length = redis.call('LLEN', prefix .. 'lane:' .. lanes[i])
  local left = tonumber(lanes[i + 1]) - now
  if left > 0 and left <= LONGEST_LEASE_MS then
    alive = alive + length
  else
    dead = dead + length
  end
end

local reply = { string.format('%.0f', now), redis.call('LLEN', KEYS[1]), redis.call('LINDEX', KEYS[1], -1) or '',
  alive + dead, dead }
for _, sku in ipairs(redis.call('SMEMBERS', prefix .. 'skus')) do
  local f = redis.pcall('HMGET', prefix .. 'sku:' .. sku, 'epoch', 'seq',
    'admittedOrders', 'admittedUnits', 'publishedOrders', 'publishedUnits')
  if not f.err and f[1] then
    local stock = redis.pcall('GET', prefix .. 'stock:' .. sku)
    reply[#reply + 1] = sku
    reply[#reply + 1] = type(stock) == 'string' and stock or ''
    for i = 1, 6 do
      reply[#reply + 1] = f[i] or ''
    end
  end
end
return reply
