package io.seckill.relay.lane;

import java.util.List;

/**
 * Result of one round trip to Redis.
 *
 * @param taken orders that were moved to the private queue, oldest first
 * @param queueLength length of the private queue afterwards
 * @param refused whether BRPOPLPUSH was refused because Redis is full
 */
record ClaimResult(List<byte[]> taken, long queueLength, boolean refused) {}
