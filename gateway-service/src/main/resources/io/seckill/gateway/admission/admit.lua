-- admit.lua: decide up to 64 purchases of one partition in the order they stand, and admit those that pass.
--
-- KEYS  1 outbox; every other key is made from ARGV[1], shares its hash tag and so its cluster slot
-- ARGV  1 key prefix "seckill:{p}:"
--       2 replication id of the server whose data was verified: another server refuses the whole call
--       3 "1" when a WAIT follows: a call with repeats and no admission makes one small write, or WAIT would
--         prove nothing about the earlier one
--       then 6 per purchase: SKU, user, idempotency key, quantity, order id, traceparent or ""
-- reply the integer 0 when this is another server; else one text per purchase:
--       A|position                    admitted under the order id that was sent
--       S|order id|settled|record     seen before with the same quantity: the first answer; takes nothing
--       K  key seen with another quantity      U  no such SKU        N  not open yet     P  paused
--       C  closed    I  quantity out of bounds Q  quota exceeded     O  stock is 0       F  too few for this quantity
--       B  broken data: a key of the wrong type, a missing or unreadable field, an order id known already
--
-- Gates in this order: request, rules, quota, stock; later purchases of a call see what earlier ones took.
-- Pass 1 reads, checks the type of every key and decides; pass 2 writes what was decided. A refusal writes nothing
-- and never stops its neighbours. A script is not rolled back, so pass 2 has nothing left that can fail; its first
-- write is refused as a whole when Redis is full, read-only or cannot persist.
-- Ids stay texts: a Lua number holds 53 bits. No shebang: with one, a full Redis would refuse the repeats too.

local prefix, expected, waits = ARGV[1], ARGV[2], ARGV[3]
local FIELDS = 6
local FIRST = 4

if string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') ~= expected then
  return 0
end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local nowText = string.format('%.0f', now)

local function text(number)
  return string.format('%.0f', number)
end

-- A non-negative integer that a double holds exactly, or nil.
local function integer(value)
  if value and #value <= 15 and string.find(value, '^%d+$') then
    return tonumber(value)
  end
  return nil
end

-- The command's answer; second value true when the key is of the wrong type or otherwise unusable.
local function read(...)
  local answer = redis.pcall(...)
  if type(answer) == 'table' and answer.err then
    return nil, true
  end
  return answer, false
end

-- user mod buckets, for users up to 2^63-1.
local function bucketOf(user, buckets)
  if #user <= 15 then
    return tonumber(user) % buckets
  end
  local high, low = tonumber(string.sub(user, 1, -10)), tonumber(string.sub(user, -9))
  return ((high % buckets) * (1000000000 % buckets) + low) % buckets
end

local LIMITS = { ONE_PER_USER = true, LIMITED = true, UNLIMITED = true }

-- Rules and stock of a SKU, read once per call; { code = ... } when it cannot be sold.
local function load(sku)
  local f, broken = read('HMGET', prefix .. 'sku:' .. sku, 'policy', 'limit', 'maxPerOrder', 'opensAt', 'closesAt',
    'state', 'epoch', 'buckets', 'seq', 'settled', 'expiresAt', 'admittedOrders', 'admittedUnits')
  if broken then
    return { code = 'B' }
  end
  if not f[1] and not f[6] and not f[8] then
    return { code = 'U' }
  end
  local s = {
    policy = f[1], limit = integer(f[2]), most = integer(f[3]), opens = integer(f[4]), closes = integer(f[5]),
    state = f[6], epoch = f[7], buckets = integer(f[8]), seq = integer(f[9] or '0'), settled = integer(f[10] or '0'),
    expires = f[11], orders = integer(f[12] or '0'), units = integer(f[13] or '0'),
    newOrders = 0, newUnits = 0
  }
  if s.policy == 'ONE_PER_USER' then
    s.limit = 1
  end
  if not LIMITS[s.policy] or not (s.most and s.opens and s.closes and s.seq and s.settled and s.orders and s.units)
    or not integer(s.epoch) or not integer(s.expires) or not s.buckets or s.buckets < 1
    or (s.policy == 'LIMITED' and not s.limit) then
    return { code = 'B' }
  end
  local stock, wrong = read('GET', prefix .. 'stock:' .. sku)
  s.stock = not wrong and integer(stock) or nil
  return s
end

-- Why the sale takes no purchase now, or nil.
local function closedCode(s)
  if s.state == 'CLOSED' or now >= s.closes then
    return 'C'
  elseif s.state == 'PAUSED' then
    return 'P'
  elseif s.state == 'PREHEATED' or (s.state == 'OPEN' and now < s.opens) then
    return 'N'
  elseif s.state ~= 'OPEN' then
    return 'B'
  end
  return nil
end

local _, outboxBroken = read('LLEN', KEYS[1])

local skus, requests, owned = {}, {}, {}
local replies, admitted, messages = {}, {}, {}
local repeats = false

local function decide(i)
  local sku, user, key, quantity, id, trace =
    ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5]
  local s = skus[sku]
  if not s then
    s = load(sku)
    skus[sku] = s
  end
  if s.code then
    return s.code
  end
  local bucket = sku .. ':' .. bucketOf(user, s.buckets)
  local field = user .. ':' .. key

  -- request
  local reqKey, orderKey = prefix .. 'req:' .. bucket, prefix .. 'order:' .. bucket
  local inCall = sku .. ':' .. field
  local first = requests[inCall]
  if first then
    repeats = true
    return first.quantity == quantity and first.again or 'K'
  end
  local seen, wrong = read('HGET', reqKey, field)
  if wrong then
    return 'B'
  end
  if seen then
    local seenId, seenQuantity = string.match(seen, '^(%d+):(%d+)$')
    if not seenId then
      return 'B'
    elseif seenQuantity ~= quantity then
      return 'K'
    end
    local record, unreadable = read('HGET', orderKey, seenId)
    if unreadable then
      return 'B'
    end
    repeats = true
    return 'S|' .. seenId .. '|' .. text(s.settled) .. '|' .. (record or '')
  end

  -- rules
  local closed = closedCode(s)
  if closed then
    return closed
  end
  local n = integer(quantity)
  if not n or n < 1 or n > s.most then
    return 'I'
  end
  if not s.stock or outboxBroken then
    return 'B'
  end

  -- quota
  local quotaKey, owner, used, newOwner
  if s.policy ~= 'UNLIMITED' then
    quotaKey = prefix .. 'quota:' .. bucket
    owner = sku .. ':' .. user
    used = owned[owner]
    if not used then
      local units, unreadable = read('HGET', quotaKey, user)
      if unreadable then
        return 'B'
      end
      newOwner = not units
      used = integer(units or '0')
      if not used then
        return 'B'
      end
    end
    if used + n > s.limit then
      return 'Q'
    end
  end

  -- stock
  if s.stock < n then
    return s.stock == 0 and 'O' or 'F'
  end
  local known, unreadable = read('HMGET', orderKey, id)
  local size, sizeless = read('HLEN', orderKey)
  if unreadable or sizeless or known[1] then
    return 'B'
  end

  s.stock = s.stock - n
  s.seq = s.seq + 1
  s.newOrders = s.newOrders + 1
  s.newUnits = s.newUnits + n
  if owner then
    owned[owner] = used + n
  end
  local seq = text(s.seq)
  local record = user .. '|' .. key .. '|' .. quantity .. '|' .. seq .. '|' .. nowText .. '|' .. s.epoch
    .. '|Q|' .. nowText
  requests[inCall] = { quantity = quantity, again = 'S|' .. id .. '|' .. text(s.settled) .. '|' .. record }
  admitted[#admitted + 1] = {
    reqKey = reqKey, field = field, request = id .. ':' .. quantity, orderKey = orderKey, id = id, record = record,
    quotaKey = quotaKey, user = user, n = n, newOwner = newOwner, newBucket = size == 0, expires = s.expires
  }
  messages[#messages + 1] = '{"v":1,"orderId":"' .. id .. '","userId":' .. user .. ',"skuId":' .. sku
    .. ',"quantity":' .. quantity .. ',"requestId":"' .. key
    .. (trace == '' and '"' or '","traceparent":"' .. trace .. '"')
    .. ',"policy":"' .. s.policy .. '","epoch":' .. s.epoch .. ',"seq":' .. seq .. ',"admittedAt":' .. nowText .. '}'
  return 'A|' .. text(math.max(1, s.seq - s.settled))
end

for i = FIRST, #ARGV, FIELDS do
  replies[#replies + 1] = decide(i)
end

if #admitted == 0 then
  if repeats and waits == '1' then
    redis.call('SET', prefix .. 'pulse', nowText)
  end
  return replies
end

for sku, s in pairs(skus) do
  if s.newOrders and s.newOrders > 0 then
    redis.call('DECRBY', prefix .. 'stock:' .. sku, text(s.newUnits))
    redis.call('HSET', prefix .. 'sku:' .. sku, 'seq', text(s.seq),
      'admittedOrders', text(s.orders + s.newOrders), 'admittedUnits', text(s.units + s.newUnits))
  end
end
for _, a in ipairs(admitted) do
  redis.call('HSET', a.reqKey, a.field, a.request)
  redis.call('HSET', a.orderKey, a.id, a.record)
  if a.newBucket then
    redis.call('PEXPIREAT', a.reqKey, a.expires)
    redis.call('PEXPIREAT', a.orderKey, a.expires)
  end
  if a.quotaKey then
    redis.call('HINCRBY', a.quotaKey, a.user, a.n)
    -- Give-back may empty and so remove a quota hash; its successor needs its expiry again.
    if a.newOwner and redis.call('HLEN', a.quotaKey) == 1 then
      redis.call('PEXPIREAT', a.quotaKey, a.expires)
    end
  end
end
redis.call('LPUSH', KEYS[1], unpack(messages))
return replies
