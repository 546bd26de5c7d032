package io.seckill.consumer.shards;

/**
 * What Redis must have of a shard, as MySQL has it.
 *
 * @param lastSeq number of its last order that MySQL has
 * @param server replication id of the Redis server that is known to MySQL: it has every order that
 *     was published before that server took over; empty before the first
 */
record ExpectedShard(long id, long epoch, long lastSeq, String server) {}
