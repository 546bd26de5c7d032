package io.seckill.gateway.admission;

import static io.seckill.common.settings.SettingChecks.check;

import io.seckill.gateway.backends.RequestBatcherProperties;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How purchases are sent to Redis.
 *
 * @param threads batches in progress at once, 1..64; needs as many Redis connections
 * @param batchesPerPartition batches in progress at once for one hot partition, 1..threads
 * @param maxBatch most purchases in one script call, 1..64
 * @param queueCapacity most purchases waiting per partition; beyond it the answer is BUSY
 * @param queueWait longest wait before a purchase is sent; beyond it the answer is BUSY
 * @param answerWithin longest time from a purchase's arrival to its answer
 * @param replicas replicas that must confirm before "queued" is answered, 0 for none
 * @param replicasTimeout longest wait for the replicas, below seckill.redis.socket-timeout
 * @param soldOutShield how long a purchase without a key is refused without asking Redis after the
 *     SKU's stock was 0; 0 switches the shield off
 * @param watchInterval how often Redis is compared with MySQL
 * @param workerLease time after which a worker lease expires unless it is renewed
 */
@ConfigurationProperties("seckill.admission")
record AdmissionProperties(
    @DefaultValue("3") int threads,
    @DefaultValue("3") int batchesPerPartition,
    @DefaultValue("64") int maxBatch,
    @DefaultValue("4096") int queueCapacity,
    @DefaultValue("120ms") Duration queueWait,
    @DefaultValue("270ms") Duration answerWithin,
    @DefaultValue("0") int replicas,
    @DefaultValue("100ms") Duration replicasTimeout,
    @DefaultValue("100ms") Duration soldOutShield,
    @DefaultValue("1s") Duration watchInterval,
    @DefaultValue("10s") Duration workerLease) {

  AdmissionProperties {
    check(replicas >= 0 && replicas <= 16, "seckill.admission.replicas must be 0..16");
    check(
        replicasTimeout.toMillis() >= 1,
        "seckill.admission.replicas-timeout must be at least 1 ms");
    check(!soldOutShield.isNegative(), "seckill.admission.sold-out-shield must not be negative");
    check(
        watchInterval.toMillis() >= 10, "seckill.admission.watch-interval must be at least 10 ms");
    check(workerLease.toMillis() >= 500, "seckill.admission.worker-lease must be at least 500 ms");
  }

  /**
   * @throws IllegalArgumentException naming the bound that is broken
   */
  RequestBatcherProperties batching() {
    return new RequestBatcherProperties(
        threads, batchesPerPartition, maxBatch, queueCapacity, queueWait, answerWithin);
  }
}
