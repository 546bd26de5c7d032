package io.seckill.relay.lane;

import java.util.List;

/**
 * What one round trip to Redis brought.
 *
 * @param taken orders that now lie in the private queue, oldest first
 * @param queueLength length of the private queue afterwards
 * @param refused whether BRPOPLPUSH was refused because Redis is full
 */
record ClaimResult(List<byte[]> taken, long queueLength, boolean refused) {}
