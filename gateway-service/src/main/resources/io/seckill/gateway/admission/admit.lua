-- admit.lua: decide up to 64 purchases in the order given; admit those that pass.
--
-- KEYS  the outbox of each partition, one on a cluster; every other key is made from the start of its
--       outbox "seckill:{p}:", shares its hash tag and so its cluster slot
-- ARGV  1 replication id of the server whose data was verified: another server refuses the whole call
--       2 what must have an order before it is promised. "REPLICAS": a WAIT follows, and a call with
--         repeats but no admission makes one small write, because without a write WAIT would prove nothing
--         about the earlier admission. "BROKER": a repeat of an order that is still queued is pushed
--         again, so that its publish is confirmed, but not within a second of its last push; the record
--         of the order, which has no result yet, keeps the time of it. "REDIS": neither
--       then 1 per key: token of a lane's lease in "seckill:{p}:lanes", or "". With a lease that is not
--         over, the messages of the partition go to its private queue "seckill:{p}:lane:<token>", else
--         to the outbox; repeats are not pushed to the outbox, as nobody would wait for their confirm
--       then 8 per purchase: number of its key, SKU, user, idempotency key, quantity, order id,
--       traceparent or "", epoch of the sale in MySQL ("0" when it is not known)
-- reply the integer 0 when this is another server; else one text per purchase:
--       A|position                    admitted under the order id that was sent
--       A|position|message            the same, and the message is in the private queue, in this order
--       S|order id|settled|record     seen before with the same quantity: the first answer; takes nothing
--       S|order id|settled|record|message   the same, and the message is in the private queue, in this order
--       K  key seen with another quantity      U  no such SKU        N  not open yet     P  paused
--       C  closed    I  quantity out of bounds Q  quota exceeded     O  stock is 0       F  too few for this quantity
--       B  broken data: a key of the wrong type, a missing or unreadable field
--       E  these data are of an older epoch than MySQL's: even repeats are not answered from them
--       and after those, per SKU that admitted something:
--       sku|epoch|highest sequence|units admitted in this epoch|policy|time of admission, Unix ms
--
-- Checks in this order: epoch, request, rules, stock of 0, quota, stock; later purchases of a call see what
-- earlier ones took. A stock of 0 comes before the quota because most purchases of a sale find it
-- sold out, and it saves them the read of the quota. In a shard it comes first only while order-consumer
-- has counted no unit outside of it: until then the SKU is not sold out (docs/adr/0028).
-- Pass 1 reads, checks the type of every key and decides; pass 2 writes what was decided. A refusal writes nothing and does not affect the other
-- purchases. A script is not rolled back, so pass 2 contains nothing that can fail halfway: when
-- Redis is full, read-only or cannot persist, it refuses the very first write. Ids stay strings: a
-- Lua number holds 53 bits. A sale that a former release loaded has no field bucketCount: broken data.
-- No shebang: with one, a full Redis would refuse repeats too.

local expected, durable = ARGV[1], ARGV[2]
local FIELDS = 8
local FIRST = 3 + #KEYS
local call, pcall, find, match = redis.call, redis.pcall, string.find, string.match

if match(call('INFO', 'replication'), 'master_replid:(%x+)') ~= expected then
  return 0
end

-- Lua converts numbers below 10^14 to strings without exponent or fraction.
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- A non-negative integer that Lua holds and prints exactly, or nil.
local function integer(value)
  if value and #value <= 14 and find(value, '^%d+$') then
    return tonumber(value)
  end
  return nil
end

-- Whether redis.pcall returned an error: the key is of the wrong type or otherwise unusable.
local function failed(answer)
  return type(answer) == 'table' and answer.err
end

-- include bucket_of.lua

local FIRST_SHARD = 4503599627370496 -- 2^52
local VALID = 1000 -- ms, as in ask.lua

-- Whether no unit was left outside a shard when they were counted.
local function isLast(hash)
  local at = match(call('HGET', hash, 'elsewhere') or '', '^0:(%d+)$')
  return at and now - at >= 0 and now - at < VALID
end

local POLICIES = { ONE_PER_USER = true, LIMITED = true, UNLIMITED = true }

-- Returns the reply code if the sale takes no purchase now, else nil.
local function closedCode(state, opens, closes)
  if state == 'PREHEATING' then
    return 'B' -- before its times, which are only right when it is loaded
  elseif state == 'CLOSED' or now >= closes then
    return 'C'
  elseif state == 'PAUSED' then
    return 'P'
  elseif state == 'PREHEATED' or (state == 'OPEN' and now < opens) then
    return 'N'
  elseif state ~= 'OPEN' then
    return 'B'
  end
  return nil
end

-- Returns the private queue of a lease, or nil when the lease is over: relays adopt its orders then.
local function queueOf(prefix, token)
  local score = token ~= '' and pcall('ZSCORE', prefix .. 'lanes', token)
  if score and not failed(score) and tonumber(score) > 0 then
    return prefix .. 'lane:' .. token
  end
  return nil
end

local outboxes = {}
for i, key in ipairs(KEYS) do
  local prefix = match(key, '^[^}]*}:')
  local queue = queueOf(prefix, ARGV[2 + i])
  outboxes[i] = { prefix = prefix, target = queue or key, direct = queue ~= nil,
    broken = failed(pcall('LLEN', queue or key)), messages = {} }
end

-- Rules and stock of a SKU, read once per call; { code = ... } if the SKU is unknown or broken.
local function load(sku, outbox)
  local prefix = outbox.prefix
  local f = pcall('HMGET', prefix .. 'sku:' .. sku, 'policy', 'limit', 'maxPerOrder', 'opensAt', 'closesAt',
    'state', 'epoch', 'bucketCount', 'seq', 'settled', 'expiresAt', 'admittedOrders', 'admittedUnits')
  if failed(f) then
    return { code = 'B' }
  elseif not f[1] and not f[6] and not f[8] then
    return { code = 'U' }
  end
  local policy, epoch, expires = f[1], f[7], f[11]
  local limit, most, opens, closes = integer(f[2]), integer(f[3]), integer(f[4]), integer(f[5])
  local buckets, seq, settled = integer(f[8]), integer(f[9] or '0'), integer(f[10] or '0')
  local orders, units = integer(f[12] or '0'), integer(f[13] or '0')
  if not POLICIES[policy] or not (most and opens and closes and buckets and seq and settled and orders and units)
    or buckets < 1 or not integer(epoch) or not integer(expires) or (policy == 'LIMITED' and not limit) then
    return { code = 'B' }
  end
  local stock = pcall('GET', prefix .. 'stock:' .. sku)
  return {
    closed = closedCode(f[6], opens, closes),
    quota = policy == 'ONE_PER_USER' and 1 or policy == 'LIMITED' and limit or nil,
    most = most, buckets = buckets, seq = seq, settled = settled, expires = expires,
    stock = not failed(stock) and integer(stock) or nil,
    outbox = outbox, hash = prefix .. 'sku:' .. sku, epoch = epoch, isShard = tonumber(sku) >= FIRST_SHARD,
    orders = orders, units = units, newOrders = 0, newUnits = 0,
    bucketPrefix = prefix .. 'bucket:' .. sku .. ':',
    -- Parts that the messages and records of this SKU share.
    messageSku = ',"skuId":' .. sku .. ',"quantity":',
    policy = policy,
    messageSale = '","policy":"' .. policy .. '","epoch":' .. epoch .. ',"seq":',
    messageEnd = ',"admittedAt":' .. now .. '}',
    recordEnd = '|' .. now .. '|' .. epoch .. '|Q|'
  }
end

-- Decisions of this call: writes[] holds ten values per admission, taken[] maps a request to its
-- offset in writes[], owned[] maps a user to all units taken so far, rewrites[] holds three values per
-- order that is pushed again, whose id is in pushed[].
local skus, taken, owned, pushed = {}, {}, {}, {}
local replies, writes, rewrites = {}, {}, {}
local REPUSH_AFTER = 1000 -- ms
local count, repeats = 0, false
local WIDTH = 10

local function again(id, s, record)
  repeats = true
  return 'S|' .. id .. '|' .. s.settled .. '|' .. record
end

-- Pushes the message of a queued order again, without its traceparent. It is one more entry to publish,
-- so one less counts as published.
local function pushAgain(s, user, key, bucket, id, record)
  local reply = again(id, s, record)
  local queued, quantity, seq, admittedAt, last =
    match(record, '^(%d+|(%d+)|(%d+)|(%d+)|' .. s.epoch .. '|Q|)(%d*)$')
  if not queued or not s.outbox.direct or s.outbox.broken or pushed[id] then
    return reply
  end
  local age = now - (tonumber(last) or tonumber(admittedAt))
  if age >= 0 and age < REPUSH_AFTER then
    return reply
  end
  local published = call('HMGET', s.hash, 'publishedOrders', 'publishedUnits')
  s.published = s.published or tonumber(published[1] or '0')
  s.publishedUnits = s.publishedUnits or tonumber(published[2] or '0')
  if not s.published or not s.publishedUnits then
    return reply
  end
  s.published, s.publishedUnits = s.published - 1, s.publishedUnits - quantity
  pushed[id] = true
  local at = #rewrites
  rewrites[at + 1], rewrites[at + 2], rewrites[at + 3] = bucket, id, queued .. now
  local message = '{"v":1,"orderId":"' .. id .. '","userId":' .. user .. s.messageSku .. quantity
    .. ',"requestId":"' .. key .. s.messageSale .. seq .. ',"admittedAt":' .. admittedAt .. '}'
  local messages = s.outbox.messages
  messages[#messages + 1] = message
  return reply .. '|' .. message
end

local function decide(i)
  local sku, user, key, quantity = ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  local s = skus[sku]
  if not s then
    s = load(sku, outboxes[tonumber(ARGV[i])])
    skus[sku] = s
  end
  if s.code then
    return s.code
  elseif tonumber(s.epoch) < tonumber(ARGV[i + 7]) then
    return 'E'
  end
  local bucket = s.bucketPrefix .. bucketOf(user, s.buckets)
  local request, quota = user .. ':' .. key, user .. ':'

  -- request
  local first = taken[sku .. ':' .. request]
  if first then
    return writes[first + 8] == quantity and again(writes[first + 4], s, writes[first + 5]) or 'K'
  end
  local limited = s.quota and (s.stock ~= 0 or s.isShard)
  local found = limited and pcall('HMGET', bucket, request, quota) or pcall('HMGET', bucket, request)
  local seen, units = found[1], found[2]
  if failed(found) then
    return 'B'
  elseif seen then
    local seenId, seenQuantity = match(seen, '^(%d+):(%d+)$')
    if not seenId then
      return 'B'
    elseif seenQuantity ~= quantity then
      return 'K'
    end
    local record = call('HGET', bucket, seenId) or ''
    if durable == 'BROKER' then
      return pushAgain(s, user, key, bucket, seenId, record)
    end
    return again(seenId, s, record)
  end

  -- rules
  if s.closed then
    return s.closed
  end
  local n = integer(quantity)
  if not n or n < 1 or n > s.most then
    return 'I'
  elseif not s.stock or s.outbox.broken then
    return 'B'
  end

  -- quota, unless a stock of 0 decides below
  local owner, used = nil, 0
  if limited then
    owner = sku .. ':' .. user
    used = owned[owner] or integer(units or '0')
    if not used then
      return 'B'
    elseif used + n > s.quota then
      if s.stock ~= 0 or not isLast(s.hash) then
        return 'Q'
      end
    end
  end

  -- stock
  if s.stock < n then
    return s.stock == 0 and 'O' or 'F'
  end

  local id, trace, seq = ARGV[i + 5], ARGV[i + 6], s.seq + 1
  s.seq = seq
  s.stock = s.stock - n
  s.newOrders = s.newOrders + 1
  s.newUnits = s.newUnits + n
  if owner then
    owned[owner] = used + n
  end
  local at = count * WIDTH
  count = count + 1
  taken[sku .. ':' .. request] = at
  writes[at + 1], writes[at + 2], writes[at + 3] = bucket, request, id .. ':' .. quantity
  writes[at + 4], writes[at + 5] = id, user .. '|' .. quantity .. '|' .. seq .. s.recordEnd
  writes[at + 6], writes[at + 7] = limited and quota, used + n
  writes[at + 8], writes[at + 9], writes[at + 10] = quantity, call('HLEN', bucket) == 0, s.expires
  if trace ~= '' then
    key = key .. '","traceparent":"' .. trace
  end
  local messages = s.outbox.messages
  local message = '{"v":1,"orderId":"' .. id .. '","userId":' .. user .. s.messageSku .. quantity
    .. ',"requestId":"' .. key .. s.messageSale .. seq .. s.messageEnd
  messages[#messages + 1] = message
  local reply = 'A|' .. (seq > s.settled and seq - s.settled or 1)
  return s.outbox.direct and reply .. '|' .. message or reply
end

local n = 0
for i = FIRST, #ARGV, FIELDS do
  n = n + 1
  replies[n] = decide(i)
end

if count == 0 and repeats and durable == 'REPLICAS' then
  call('SET', outboxes[1].prefix .. 'pulse', now)
end

for sku, s in pairs(skus) do
  if s.published then
    call('HSET', s.hash, 'publishedOrders', s.published, 'publishedUnits', s.publishedUnits)
  end
  if not s.code and s.newOrders > 0 then
    call('DECRBY', s.outbox.prefix .. 'stock:' .. sku, s.newUnits)
    call('HSET', s.hash, 'seq', s.seq,
      'admittedOrders', s.orders + s.newOrders, 'admittedUnits', s.units + s.newUnits)
    replies[#replies + 1] = sku .. '|' .. s.epoch .. '|' .. s.seq .. '|' .. s.units + s.newUnits
      .. '|' .. s.policy .. '|' .. now
  end
end
for at = 1, #rewrites, 3 do
  call('HSET', rewrites[at], rewrites[at + 1], rewrites[at + 2])
end
for at = 0, (count - 1) * WIDTH, WIDTH do
  call('HSET', unpack(writes, at + 1, at + (writes[at + 6] and 7 or 5)))
  if writes[at + 9] then
    call('PEXPIREAT', writes[at + 1], writes[at + 10])
  end
end
for _, outbox in ipairs(outboxes) do
  if #outbox.messages > 0 then
    call('LPUSH', outbox.target, unpack(outbox.messages))
  end
end
return replies
