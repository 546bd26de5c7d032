-- loading_clear.lua: remove some buckets of a SKU that is being loaded.
-- KEYS  1 sku  2.. buckets, at most 256    one hash tag, so one cluster slot
-- ARGV  1 epoch of the loading
-- reply 1 done · 0 another loading has taken over: nothing was removed

if redis.call('HGET', KEYS[1], 'loading') ~= ARGV[1] then
  return 0
end
redis.call('UNLINK', unpack(KEYS, 2))
return 1
