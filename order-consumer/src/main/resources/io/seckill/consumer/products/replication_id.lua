#!lua flags=no-writes
-- replication_id.lua: identify the partition's server: the id changes with every restart and every promotion.
-- KEYS  1 outbox  2 one that never exists; only to name the cluster slot, which is TRYAGAIN while it moves
-- reply the replication id

return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
