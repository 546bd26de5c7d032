package io.seckill.relay.lane;

import java.time.Duration;

/**
 * The settings that all lanes of one process share.
 *
 * @param name of their owner, shown in keys, logs and lists of connections
 * @param lanesPerPartition 1..8
 * @param maxUnconfirmed orders of one lane in its private queue and in flight, 1..4096
 * @param drainTimeout longest time a stop waits for confirms
 */
public record LaneSettings(
    String name, int lanesPerPartition, int maxUnconfirmed, Duration drainTimeout) {}
