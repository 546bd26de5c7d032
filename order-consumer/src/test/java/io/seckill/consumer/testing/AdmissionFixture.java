package io.seckill.consumer.testing;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.redis.RedisKeys;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;

/** Writes to Redis what an admission writes, for sales with one bucket. */
public final class AdmissionFixture {

  private static final int BUCKET = 0;

  private final UnifiedJedis redis;

  public AdmissionFixture(UnifiedJedis redis) {
    this.redis = redis;
  }

  /** Takes stock and quota and writes the admission record, without checking the sale rules. */
  public void admit(List<OrderMessage> orders) {
    for (OrderMessage order : orders) {
      redis.hset(
          RedisKeys.bucket(order.skuId(), BUCKET),
          order.orderId().toString(),
          AdmissionRecord.queued(order).format());
      redis.decrBy(RedisKeys.stock(order.skuId()), order.quantity());
      if (order.policy().keepsQuota()) {
        redis.hincrBy(
            RedisKeys.bucket(order.skuId(), BUCKET),
            RedisKeys.quotaField(order.userId()),
            order.quantity());
      }
    }
  }

  public void admit(OrderMessage... orders) {
    admit(List.of(orders));
  }

  public AdmissionRecord record(OrderMessage order) {
    return AdmissionRecord.parse(
        redis.hget(RedisKeys.bucket(order.skuId(), BUCKET), order.orderId().toString()));
  }

  /** Letters of status and reason in the admission record, "" without one. */
  public String result(OrderMessage order) {
    String record = redis.hget(RedisKeys.bucket(order.skuId(), BUCKET), order.orderId().toString());
    return record == null ? "" : record.split("\\|", -1)[5];
  }

  public long stock(long skuId) {
    return Long.parseLong(redis.get(RedisKeys.stock(skuId)));
  }

  public long quota(long skuId, long userId) {
    String units = redis.hget(RedisKeys.bucket(skuId, BUCKET), RedisKeys.quotaField(userId));
    return units == null ? 0 : Long.parseLong(units);
  }

  /** Units compensated for the order, {@code <stock>:<quota>}; null if it is not compensated. */
  public @Nullable String compensated(OrderMessage order) {
    return redis.hget(
        RedisKeys.bucket(order.skuId(), BUCKET), RedisKeys.compensationField(order.orderId()));
  }
}
