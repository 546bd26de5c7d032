package io.seckill.gateway.batching;

import static io.seckill.common.settings.SettingChecks.check;

import java.time.Duration;

/**
 * Bounds of one {@link RequestBatcher}.
 *
 * @param threads batches in progress at once, 1..64
 * @param batchesPerPartition batches in progress at once for the same partition, 1..threads
 * @param maxBatch most requests in a batch, 1..64
 * @param queueCapacity most requests waiting per partition, 1..1,000,000
 * @param queueWait longest wait before a request is sent; beyond it the request fails without being
 *     sent
 * @param answerWithin longest time from arrival to an answer, at least queueWait
 */
public record RequestBatcherProperties(
    int threads,
    int batchesPerPartition,
    int maxBatch,
    int queueCapacity,
    Duration queueWait,
    Duration answerWithin) {

  /**
   * @throws IllegalArgumentException naming the bound that is broken
   */
  public RequestBatcherProperties {
    check(threads >= 1 && threads <= 64, "threads must be 1..64");
    check(
        batchesPerPartition >= 1 && batchesPerPartition <= threads,
        "batches-per-partition must be 1..threads");
    check(maxBatch >= 1 && maxBatch <= 64, "max-batch must be 1..64");
    check(queueCapacity >= 1 && queueCapacity <= 1_000_000, "queue-capacity must be 1..1000000");
    check(!queueWait.isNegative() && !queueWait.isZero(), "queue-wait must be positive");
    check(answerWithin.compareTo(queueWait) >= 0, "answer-within is shorter than queue-wait");
  }
}
