#!lua flags=allow-oom
-- lease.lua: take, renew or release the worker number of one generator of order ids.
--
-- KEYS  1 hash: worker number -> token|lease end (this server's clock, Unix ms)|horizon (Unix ms)
-- ARGV  1 "take" | "renew" | "release"   2 token of the generator   3 lease in ms
--       4 requested horizon, Unix ms; at most a day ahead of this server's clock is given
--       5 the generator's number; for take: number at which the search begins, chosen at random so
--         that after a loss of data two generators rarely take the same number
--       6 "1" to count the generators with a valid lease, else "0"
-- reply take: {number, horizon of the predecessor, own horizon, count}, or {} when all numbers are
--         leased
--       renew: {number, "0", own horizon, count}, or {} when the number belongs to another token
--       release: {}
-- The horizon makes ids unique, even when clocks jump: a generator uses no time above its own horizon,
-- a successor starts above the predecessor's. The lease only keeps generators from taking each
-- other's number. One whose clock is years ahead must not use up a number for these years; a number that
-- a former release has used so is not given.
-- Headed allow-oom: without a number a gateway could not answer repeats and refusals, which write nothing, in a
-- full Redis. The hash has at most 255 short fields.

local LAST = 254 -- 255 is the number of the ids that order-consumer makes
-- A lease with more time left than this was given before this server's clock was set back.
local LONGEST_LEASE_MS = 300000
local LONGEST_HORIZON_MS = 86400000
local op, token, lease, wish = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local latest = now + LONGEST_HORIZON_MS

local function text(number)
  return string.format('%.0f', number)
end

local function parse(value)
  local owner, ends, horizon = string.match(value or '', '^([^|]*)|(%d+)|(%d+)$')
  return owner, tonumber(ends or '0'), tonumber(horizon or '0')
end

local function isValid(ends)
  return ends >= now and ends <= now + LONGEST_LEASE_MS
end

-- Counts tokens: a generator that did not get the reply of its take leases a second number.
local function generators()
  if ARGV[6] == '0' then
    return '0'
  end
  local counted, count = {}, 0
  local fields = redis.call('HGETALL', KEYS[1])
  for i = 2, #fields, 2 do
    local owner, ends = parse(fields[i])
    if isValid(ends) and not counted[owner] then
      counted[owner] = true
      count = count + 1
    end
  end
  return text(count)
end

if op == 'take' then
  -- Unused numbers first, then the longest expired: a number that expired recently may belong to a
  -- paused process.
  local best, bestEnds, bestHorizon
  for i = 0, LAST do
    local number = (tonumber(ARGV[5]) + i) % (LAST + 1)
    local _, ends, horizon = parse(redis.call('HGET', KEYS[1], number))
    if not isValid(ends) and horizon <= latest and (not best or ends < bestEnds) then
      best, bestEnds, bestHorizon = number, ends, horizon
    end
  end
  if not best then
    return {}
  end
  local own = math.max(math.min(wish, latest), bestHorizon + lease)
  redis.call('HSET', KEYS[1], best, token .. '|' .. text(now + lease) .. '|' .. text(own))
  return { text(best), text(bestHorizon), text(own), generators() }
end

local number = ARGV[5]
local owner, _, horizon = parse(redis.call('HGET', KEYS[1], number))
if owner ~= token then
  return {}
elseif op == 'release' then
  redis.call('HSET', KEYS[1], number, '|1|' .. text(wish))
  return {}
end
local own = math.max(math.min(wish, latest), horizon)
redis.call('HSET', KEYS[1], number, token .. '|' .. text(now + lease) .. '|' .. text(own))
return { number, '0', text(own), generators() }
