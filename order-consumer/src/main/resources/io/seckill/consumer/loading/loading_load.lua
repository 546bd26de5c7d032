-- loading_load.lua: write MySQL's data on earlier orders into the buckets of a SKU that is being loaded.
-- KEYS  1 sku  2.. buckets    one hash tag, so one cluster slot
-- ARGV  1 epoch of the loading  2 Unix ms at which the buckets expire
--       3.. triples: number of the bucket among KEYS, field, value, "" to remove the field; at most 500 triples
-- reply 1 done · 0 another loading has taken over, or another server: nothing was written
-- The buckets were removed before, so they cannot have another type.

local begun = redis.call('HMGET', KEYS[1], 'loading', 'server')
if begun[1] ~= ARGV[1] or begun[2] ~= string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') then
  return 0
end
for i = 3, #ARGV, 3 do
  if ARGV[i + 2] == '' then
    redis.call('HDEL', KEYS[tonumber(ARGV[i])], ARGV[i + 1])
  else
    redis.call('HSET', KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 2])
  end
end
for i = 2, #KEYS do
  redis.call('PEXPIREAT', KEYS[i], ARGV[2])
end
return 1
