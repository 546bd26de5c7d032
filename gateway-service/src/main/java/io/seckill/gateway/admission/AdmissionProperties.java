package io.seckill.gateway.admission;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.isWithin;

import io.seckill.common.redis.RedisSettings;
import io.seckill.gateway.batching.RequestBatcherProperties;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How purchases are sent to Redis.
 *
 * @param threads batches in progress at once, 1..64; the pool of Redis should have 14 connections
 *     more
 * @param maxBatch most purchases in one script call, 1..64
 * @param queueCapacity most purchases waiting per partition, 1..1,000,000; beyond it the answer is
 *     BUSY
 * @param answerWithin longest time from a purchase's arrival to its answer, 200 ms..30 s; at a
 *     shard twice as long and 300 ms, which is less than an idle connection stays open. A purchase
 *     that is not sent 150 ms before is answered BUSY
 * @param durableIn place that an order must have reached before "queued" is answered
 * @param replicas replicas that must confirm, 1..16 with {@code REPLICAS}, else 0
 * @param soldOutShield how long a purchase without a key is refused without asking Redis after the
 *     SKU's stock was 0, 0 s..5 s; 0 switches the shield off
 */
@ConfigurationProperties("seckill.admission")
public record AdmissionProperties(
    @DefaultValue("3") int threads,
    @DefaultValue("64") int maxBatch,
    @DefaultValue("4096") int queueCapacity,
    @DefaultValue("270ms") Duration answerWithin,
    @DefaultValue("redis") Durability.Store durableIn,
    @DefaultValue("0") int replicas,
    @DefaultValue("100ms") Duration soldOutShield) {

  /** Left for the script call: a call that takes longer counts as slow and opens the breaker. */
  private static final Duration CALL = Duration.ofMillis(150);

  /** A replica in another zone needs a few milliseconds; below the socket time-out of Redis. */
  private static final Duration REPLICAS_WITHIN = Duration.ofMillis(100);

  /**
   * Batches of strong sales at once: as many as one order-consumer decides at once. More would only
   * wait there, instead of growing here.
   */
  private static final int STRONG_BATCHES = 4;

  /**
   * The batches of a SKU lock the same row, one after the other: a second one would wait for the
   * first, in MySQL, instead of growing here. Other sales find threads free.
   */
  private static final int STRONG_BATCHES_OF_PARTITION = 1;

  public AdmissionProperties {
    check(threads >= 1 && threads <= 64, "seckill.admission.threads must be 1..64");
    check(maxBatch >= 1 && maxBatch <= 64, "seckill.admission.max-batch must be 1..64");
    check(
        queueCapacity >= 1 && queueCapacity <= 1_000_000,
        "seckill.admission.queue-capacity must be 1..1000000");
    check(
        isWithin(answerWithin, Duration.ofMillis(200), Duration.ofSeconds(30)),
        "seckill.admission.answer-within must be 200ms..30s");
    check(replicas >= 0 && replicas <= 16, "seckill.admission.replicas must be 0..16");
    check(
        (durableIn == Durability.Store.REPLICAS) == (replicas > 0),
        "seckill.admission.replicas must be 1..16 with durable-in=replicas, else 0");
    check(
        isWithin(soldOutShield, Duration.ZERO, Duration.ofSeconds(5)),
        "seckill.admission.sold-out-shield must be 0s..5s");
  }

  /**
   * A call that waits for replicas must be neither given up nor, from three fifths of the time-out,
   * counted as slow.
   *
   * @throws IllegalArgumentException naming the settings that contradict each other
   */
  void checkWith(RedisSettings redis) {
    check(
        durableIn != Durability.Store.REPLICAS || redis.socketTimeout().toMillis() >= 170,
        "seckill.redis.socket-timeout must be at least 170ms with"
            + " seckill.admission.durable-in=replicas");
  }

  Durability durability() {
    boolean broker = durableIn == Durability.Store.BROKER;
    return new Durability(durableIn, replicas, broker ? answerWithin : REPLICAS_WITHIN);
  }

  RequestBatcherProperties batching() {
    return batching(threads, threads);
  }

  /** As many purchases wait, and as long, as for Redis. */
  RequestBatcherProperties strongBatching() {
    return batching(STRONG_BATCHES, STRONG_BATCHES_OF_PARTITION);
  }

  private RequestBatcherProperties batching(int atOnce, int ofPartition) {
    return new RequestBatcherProperties(
        atOnce, ofPartition, maxBatch, queueCapacity, answerWithin.minus(CALL), answerWithin);
  }
}
