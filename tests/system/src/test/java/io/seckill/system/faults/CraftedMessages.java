package io.seckill.system.faults;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.guarantee.SaleOffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import redis.clients.jedis.UnifiedJedis;

/** Messages that a test publishes itself, without a relay. */
final class CraftedMessages {

  private static final int NOBODYS_WORKER = 255;

  private CraftedMessages() {}

  /** The orders that Redis has admitted so far in a sale, as the relays publish them. */
  static List<OrderMessage> admitted(UnifiedJedis redis, SaleOffer sale) {
    int buckets = Integer.parseInt(redis.hget(RedisKeys.sku(sale.skuId()), "bucketCount"));
    List<OrderMessage> orders = new ArrayList<>();
    for (int number = 0; number < buckets; number++) {
      Map<String, String> bucket = redis.hgetAll(RedisKeys.bucket(sale.skuId(), number));
      bucket.forEach(
          (field, value) -> {
            if (field.matches("\\d+:.+")) {
              String id = value.substring(0, value.indexOf(':'));
              AdmissionRecord record =
                  AdmissionRecord.parse(Objects.requireNonNull(bucket.get(id)))
                      .withRequest(field.substring(field.indexOf(':') + 1));
              orders.add(message(sale, OrderId.parse(id), record));
            }
          });
    }
    return orders;
  }

  /** Returns broken JSON, a message of a later version, and three with invalid quantities. */
  static List<String> bad(SaleOffer sale) {
    OrderId id =
        OrderId.of(System.currentTimeMillis(), Partition.ofSku(sale.skuId()), NOBODYS_WORKER, 0);
    AdmissionRecord record = AdmissionRecord.parse("1|1|1|1|1|Q|1").withRequest("bad-message");
    String good = OrderMessageCodec.encode(message(sale, id, record));
    return List.of(
        "{\"v\":1,\"orderId\":\"" + id, // dead letters with the same text are stored once
        good.replace("\"v\":1", "\"v\":2"),
        good.replace("\"quantity\":1", "\"quantity\":0"),
        good.replace("\"quantity\":1", "\"quantity\":-1"),
        good.replace("\"quantity\":1", "\"quantity\":2147483648"));
  }

  private static OrderMessage message(SaleOffer sale, OrderId id, AdmissionRecord record) {
    String requestId = Objects.requireNonNull(record.requestId());
    return record.message(id, sale.skuId(), requestId, sale.policy());
  }
}
