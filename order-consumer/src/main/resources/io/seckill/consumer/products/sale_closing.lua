-- sale_closing.lua: one step of an extension to a later closing time. First 'prepare' makes new keys expire later,
-- then each 'buckets' makes some existing keys expire later, last 'finish' sets the later closing time and the later
-- expiry of the rules: rules never outlive the data they apply to. The progress is stored, so that a repeat
-- continues from there.
-- KEYS  1 sku  2.. keys that expire later: those that are no buckets for 'prepare', some buckets for 'buckets',
--       none for 'finish'    one hash tag, so one cluster slot
-- ARGV  1 'prepare', 'buckets' or 'finish'  2 closing time  3 when everything but the rules expires
--       4 when the rules expire    times in Unix ms  5 first bucket after those of 'buckets'
-- reply {bucket count, first bucket not done} · {0, 0} nothing to do: no sale, not later than what is there, or
--       another loading or a still later closing time has taken over
-- Closing times only grow, so a repeat changes nothing and the order of two edits does not matter.

local sale = redis.call('HMGET', KEYS[1], 'closesAt', 'expiresAt', 'bucketCount', 'extending')
if not sale[1] or not sale[2] or not sale[3] or tonumber(sale[1]) >= tonumber(ARGV[2]) then
  return {0, 0}
end
local wanted, count = tonumber(ARGV[3]), tonumber(sale[3])
local expiry, done = string.match(sale[4] or '', '^(%d+):(%d+)$')
expiry, done = tonumber(expiry or '0'), tonumber(done or '0')
if expiry > wanted or (expiry ~= wanted and ARGV[1] ~= 'prepare') then
  return {0, 0}
end
if expiry ~= wanted then
  done = 0
end

if ARGV[1] == 'finish' then
  if done >= count then
    redis.call('HSET', KEYS[1], 'closesAt', ARGV[2])
    redis.call('HDEL', KEYS[1], 'extending')
    redis.call('PEXPIREAT', KEYS[1], ARGV[4])
  end
  return {count, done}
end
if ARGV[1] == 'buckets' then
  done = math.max(done, tonumber(ARGV[5]))
elseif tonumber(sale[2]) < wanted then
  redis.call('HSET', KEYS[1], 'expiresAt', ARGV[3])
end
for i = 2, #KEYS do
  redis.call('PEXPIREAT', KEYS[i], ARGV[3], 'GT')
end
redis.call('HSET', KEYS[1], 'extending', ARGV[3] .. ':' .. string.format('%.0f', done))
return {count, done}
