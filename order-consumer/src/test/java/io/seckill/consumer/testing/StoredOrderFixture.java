package io.seckill.consumer.testing;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.OrderTotalSql;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Orders as the pipeline leaves them when they are CONFIRMED: in MySQL with quota and stock taken,
 * in Redis with their admission record.
 */
public final class StoredOrderFixture {

  private static final AtomicInteger NEXT = new AtomicInteger();

  private final TestConsumer consumer;

  public StoredOrderFixture(TestConsumer consumer) {
    this.consumer = consumer;
  }

  /** Admits and stores an order of this user. */
  public OrderId confirmed(long skuId, long userId, int quantity) {
    String policy = product(skuId, "policy");
    consumer.redis().hincrBy(RedisKeys.sku(skuId), "seq", 1);
    OrderId id = store(1, skuId, userId, quantity, policy);
    admit(id, skuId, userId, quantity, !policy.equals("UNLIMITED"));
    return id;
  }

  /** Stores an order of this user, of a strong sale. */
  public OrderId strong(long skuId, long userId, int quantity) {
    return store(OrderId.MYSQL_WORKER, skuId, userId, quantity, product(skuId, "policy"));
  }

  private OrderId store(int worker, long skuId, long userId, int quantity, String policy) {
    int number = NEXT.incrementAndGet();
    OrderId id = OrderId.of(System.currentTimeMillis(), (int) (skuId % 16), worker, number % 1024);
    consumer.update(
        "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
            + " status, single_buyer, epoch, seq, admitted_at)"
            + " VALUES (?, ?, ?, ?, 9900, ?, 'CONFIRMED', ?, 1, ?, NOW(3))",
        id.value(),
        userId,
        skuId,
        quantity,
        "request-" + number,
        policy.equals("ONE_PER_USER") ? userId : null,
        number);
    consumer.update(OrderTotalSql.count(skuId));
    if (!policy.equals("UNLIMITED")) {
      consumer.update(
          "INSERT INTO user_quota (user_id, sku_id, owned_count, limit_units)"
              + " SELECT ?, sku_id, ?, limit_per_user FROM products WHERE sku_id = ?"
              + " ON DUPLICATE KEY UPDATE owned_count = owned_count + VALUES(owned_count)",
          userId,
          quantity,
          skuId);
    }
    consumer.update(
        "UPDATE products SET stock = stock - ?, last_seq = last_seq + 1, settled = settled + 1"
            + " WHERE sku_id = ?",
        quantity,
        skuId);
    return id;
  }

  private void admit(OrderId id, long skuId, long userId, int quantity, boolean withQuota) {
    String record = userId + "|" + quantity + "|1|1767225600000|1|C|1767225600000";
    consumer.redis().hset(bucket(skuId, userId), Map.of(id.toString(), record));
    consumer.redis().decrBy(RedisKeys.stock(skuId), quantity);
    if (withQuota) {
      consumer.redis().hincrBy(bucket(skuId, userId), RedisKeys.quotaField(userId), quantity);
    }
  }

  private String bucket(long skuId, long userId) {
    String buckets = consumer.redis().hget(RedisKeys.sku(skuId), "bucketCount");
    return RedisKeys.bucket(
        skuId,
        RedisKeys.bucketOf(userId, Integer.parseInt(Objects.requireNonNullElse(buckets, "1"))));
  }

  /** Moves the order's creation time back by this many seconds. */
  public void age(OrderId id, long seconds) {
    consumer.update(
        "UPDATE orders SET created_at = created_at - INTERVAL ? SECOND WHERE order_id = ?",
        seconds,
        id.value());
  }

  /** Moves the order and its payment as the archive of its sale does. */
  public void archive(OrderId id) {
    consumer.update(
        "INSERT INTO order_history SELECT order_id, user_id, sku_id, quantity, unit_price_cents,"
            + " request_id, status, reason, epoch, seq, admitted_at, created_at, updated_at"
            + " FROM orders WHERE order_id = ?",
        id.value());
    consumer.update(
        "INSERT INTO payment_history SELECT order_id, amount_cents, state, charge_id, created_at,"
            + " updated_at FROM payment WHERE order_id = ?",
        id.value());
    consumer.update("DELETE FROM payment WHERE order_id = ?", id.value());
    consumer.update("DELETE FROM orders WHERE order_id = ?", id.value());
  }

  public String status(OrderId id) {
    return consumer.text("SELECT status FROM orders WHERE order_id = ?", id.value());
  }

  /** The status letter in Redis. */
  public String letter(long skuId, OrderId id) {
    long user = consumer.number("SELECT user_id FROM orders WHERE order_id = ?", id.value());
    String record = consumer.redis().hget(bucket(skuId, user), id.toString());
    return String.valueOf(AdmissionRecord.parse(record).status().letter());
  }

  /** The value of a column of the products table. */
  public String product(long skuId, String column) {
    return consumer.product(skuId, column);
  }

  public long stockInMySql(long skuId) {
    return Long.parseLong(product(skuId, "stock"));
  }

  public long stockInRedis(long skuId) {
    return Long.parseLong(consumer.redis().get(RedisKeys.stock(skuId)));
  }

  /** Units the user owns according to MySQL, 0 without a row. */
  public long quotaInMySql(long skuId, long userId) {
    return consumer
        .sql()
        .sql("SELECT owned_count FROM user_quota WHERE sku_id = ? AND user_id = ?")
        .params(skuId, userId)
        .query(Long.class)
        .optional()
        .orElse(0L);
  }

  public long quotaInRedis(long skuId, long userId) {
    String units = consumer.redis().hget(bucket(skuId, userId), RedisKeys.quotaField(userId));
    return units == null ? 0 : Long.parseLong(units);
  }

  /** The number of compensations that Redis has not confirmed. */
  public long pendingCompensations() {
    return consumer.number("SELECT COUNT(*) FROM compensation WHERE done_at IS NULL");
  }
}
