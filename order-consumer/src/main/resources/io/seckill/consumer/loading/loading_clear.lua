-- loading_clear.lua: remove some buckets of a SKU that is being loaded.
-- KEYS  1 sku  2.. buckets, at most 256    one hash tag, so one cluster slot
-- ARGV  1 epoch of the loading
-- reply 1 done · 0 another loading has taken over, or another server: nothing was removed

local begun = redis.call('HMGET', KEYS[1], 'loading', 'server')
if begun[1] ~= ARGV[1] or begun[2] ~= string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') then
  return 0
end
redis.call('UNLINK', unpack(KEYS, 2))
return 1
