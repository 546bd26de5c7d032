package io.seckill.common.redis;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import java.time.Duration;

/**
 * Names of all Redis keys, and of the fields in a bucket. All keys of a SKU have its partition as
 * hash tag, so that one script call uses one cluster slot.
 *
 * <p>The users of a SKU are spread over buckets by {@code userId mod bucketCount}; the count is
 * fixed at preheat and stored in the SKU's hash.
 */
public final class RedisKeys {

  /**
   * Longest lease in {@link #lanes}. A lease that ends later than this from now was given before
   * Redis's clock was set back, and does not show whether its lane is alive.
   */
  public static final Duration LONGEST_LANE_LEASE = Duration.ofMinutes(5);

  /** Start of every {@link #compensationField}, and of no other field. */
  public static final String COMPENSATED = "compensated:";

  /** Start of every {@link #endedField} and of {@link #ENDED_RANGE}, and of no other field. */
  public static final String ENDED = "ended:";

  /**
   * Field of a bucket whose value is {@code <first>:<next>}: the numbers of the {@link
   * #endedField}s that there are, the last excluded.
   */
  public static final String ENDED_RANGE = ENDED + "range";

  /**
   * Start of the name, in {@link #lanes}, of a gateway that has lanes of its own. These take no
   * orders from the outbox; no relay may have such a name.
   */
  public static final String GATEWAY_LANES = "gateway@";

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

  /**
   * Hash: the purchases of the users of one bucket. An order id is the field of the order's {@link
   * io.seckill.common.order.AdmissionRecord}; the other fields are {@link #requestField}, {@link
   * #quotaField}, {@link #compensationField}, {@link #endedField} and {@link #ENDED_RANGE}.
   */
  public static String bucket(long skuId, int bucket) {
    return ofSku("bucket:", skuId) + ':' + bucket;
  }

  /** Field of a bucket whose value is {@code <order id>:<quantity>}. */
  public static String requestField(long userId, String idempotencyKey) {
    return userId + ":" + idempotencyKey;
  }

  /** Field of a bucket whose value is the units that a user has taken. */
  public static String quotaField(long userId) {
    return userId + ":";
  }

  /** Field of a bucket whose value is the units that a compensation has returned. */
  public static String compensationField(OrderId id) {
    return COMPENSATED + id;
  }

  /**
   * Field of a bucket that keeps in which order its orders ended: {@code <order id>:<user>:<Unix
   * ms>:<idempotency key>}, with an empty key when it is not known.
   *
   * @param number from 1
   */
  public static String endedField(long number) {
    return ENDED + number;
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
   * List: orders a lane has taken, or a gateway has admitted for its own lane, and the broker has
   * not confirmed.
   *
   * @param leaseToken as stored in {@link #lanes}: {@code <relay or gateway>:<n>:<token>}
   */
  public static String privateQueue(int partition, String leaseToken) {
    return of(partition, "lane:" + leaseToken);
  }

  /** Sorted set: token of a lane's lease with the end of its lease (Redis's clock, Unix ms). */
  public static String lanes(int partition) {
    return of(partition, "lanes");
  }

  /** Hash: worker number of a partition's order ids to its lease. */
  public static String workers(int partition) {
    return of(partition, "workers");
  }

  /**
   * A key that never exists, for calls of scripts that build key names themselves. With it a call
   * is answered TRYAGAIN while its slot moves to another node of a cluster; without it, keys that
   * are still on the former node would count as absent.
   */
  public static String absent(int partition) {
    return of(partition, "stock:0");
  }

  /** String: orders of an order queue that its active consumer has not settled; short-lived. */
  public static String unacked(String queue) {
    return "seckill:{consumers}:unacked:" + queue;
  }

  /** Prefix of all keys of a partition, for scripts that build key names themselves. */
  public static String prefix(int partition) {
    return of(partition, "");
  }

  /** The bucket that holds a user's purchases of a SKU. */
  public static int bucketOf(long userId, int bucketCount) {
    return (int) (userId % bucketCount);
  }

  private static String ofSku(String kind, long skuId) {
    return of(Partition.ofSku(skuId), kind) + skuId;
  }

  private static String of(int partition, String rest) {
    return PREFIX + partition + "}:" + rest;
  }
}
