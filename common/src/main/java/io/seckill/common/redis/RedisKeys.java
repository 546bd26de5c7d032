package io.seckill.common.redis;

import io.seckill.common.order.Partition;
import java.time.Duration;
import java.util.List;

/**
 * Names of all Redis keys. All keys of a SKU have its partition as hash tag, so that one script
 * call uses one cluster slot.
 *
 * <p>Per-SKU hashes are split into buckets by user, {@code userId mod buckets}; the bucket count is
 * fixed at preheat and stored in the SKU's hash.
 */
public final class RedisKeys {

  /**
   * Longest lease in {@link #lanes}. A lease that ends later than this from now was given before
   * Redis's clock was set back, and does not show whether its lane is alive.
   */
  public static final Duration LONGEST_LANE_LEASE = Duration.ofMinutes(5);

  private static final String PREFIX = "seckill:{";

  private RedisKeys() {}

  /** Hash: rules, state, epoch, bucket count, sequence, counters. */
  public static String sku(long skuId) {
    return ofSku("sku:", skuId);
  }

  /** String: units still admissible. */
  public static String stock(long skuId) {
    return ofSku("stock:", skuId);
  }

  /** Hash: user to units taken. */
  public static String quota(long skuId, int bucket) {
    return ofSku("quota:", skuId) + ':' + bucket;
  }

  /** Hash: user and idempotency key to order id and quantity. */
  public static String requests(long skuId, int bucket) {
    return ofSku("req:", skuId) + ':' + bucket;
  }

  /** Hash: order id to {@link io.seckill.common.order.AdmissionRecord}. */
  public static String orders(long skuId, int bucket) {
    return ofSku("order:", skuId) + ':' + bucket;
  }

  /** Hash: ids of the orders that have been compensated. */
  public static String compensated(long skuId, int bucket) {
    return ofSku("compensated:", skuId) + ':' + bucket;
  }

  /** Hash: stock change id to its outcome in Redis. */
  public static String stockChanges(long skuId) {
    return ofSku("changes:", skuId);
  }

  /** Set: SKUs preheated in a partition. */
  public static String skus(int partition) {
    return of(partition, "skus");
  }

  /** Hash: SKU to the operator's stop that is not stored in MySQL yet. */
  public static String stops(int partition) {
    return of(partition, "stops");
  }

  /** List: admitted orders not yet taken by a relay; head is the newest. */
  public static String outbox(int partition) {
    return of(partition, "outbox");
  }

  /**
   * List: orders a lane has taken and the broker has not confirmed.
   *
   * @param leaseToken as stored in {@link #lanes}: {@code <relay>:<n>:<token>}
   */
  public static String privateQueue(int partition, String leaseToken) {
    return of(partition, "lane:" + leaseToken);
  }

  /** Sorted set: {@code <relay>:<n>:<token>} with the end of its lease (Redis's clock, Unix ms). */
  public static String lanes(int partition) {
    return of(partition, "lanes");
  }

  /** Hash: worker number of a partition's order ids to its lease. */
  public static String workers(int partition) {
    return of(partition, "workers");
  }

  /** String: deliveries of an order queue that its active consumer has not acked; short-lived. */
  public static String unacked(String queue) {
    return "seckill:{consumers}:unacked:" + queue;
  }

  /** Prefix of all keys of a partition, for scripts that build key names themselves. */
  public static String prefix(int partition) {
    return of(partition, "");
  }

  /** Every hash of one bucket: quota, requests, orders and compensated. */
  public static List<String> hashesOfBucket(long skuId, int bucket) {
    return List.of(
        quota(skuId, bucket),
        requests(skuId, bucket),
        orders(skuId, bucket),
        compensated(skuId, bucket));
  }

  /** The bucket that holds a user's part of a SKU's hashes. */
  public static int bucket(long userId, int buckets) {
    return (int) (userId % buckets);
  }

  private static String ofSku(String kind, long skuId) {
    return of(Partition.ofSku(skuId), kind) + skuId;
  }

  private static String of(int partition, String rest) {
    return PREFIX + partition + "}:" + rest;
  }
}
