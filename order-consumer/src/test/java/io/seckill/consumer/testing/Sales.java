package io.seckill.consumer.testing;

import static io.seckill.testing.Eventually.eventually;

import io.seckill.common.redis.RedisKeys;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import tools.jackson.databind.node.ObjectNode;

/** Creates products and sales for tests, as operators do. */
public final class Sales {

  private static final List<String> EDITABLE =
      List.of(
          "name",
          "priceCents",
          "stock",
          "policy",
          "limitPerUser",
          "decides",
          "opensAt",
          "closesAt",
          "shards",
          "version");

  private final TestConsumer consumer;

  public Sales(TestConsumer consumer) {
    this.consumer = consumer;
  }

  /** Returns the request body that creates a product by PUT. */
  public static String product(String policy, int limit, long stock) {
    return """
    {"name":"Phone","priceCents":9900,"stock":%d,"policy":"%s","limitPerUser":%d,
     "opensAt":"2026-01-01T00:00:00Z","closesAt":"2036-01-01T00:00:00.123Z"}
    """
        .formatted(stock, policy, limit);
  }

  /** As {@link #product}, of a strong sale. */
  public static String strongProduct(String policy, int limit, long stock) {
    return product(policy, limit, stock).replace("\"policy\"", "\"decides\":\"MYSQL\",\"policy\"");
  }

  /** Edits a product as the operations page does, to what its row shows. */
  public InternalApi.Answer putAsShown(long skuId) {
    String path = "/internal/v1/skus/" + skuId;
    ObjectNode row = (ObjectNode) consumer.api().get(path).body();
    row.set("stock", row.get("initialStock"));
    return consumer.api().put(path, row.retain(EDITABLE).toString());
  }

  /** Creates, preheats and opens a strong sale. */
  public void openStrong(long skuId, String policy, int limit, long stock) {
    String path = "/internal/v1/skus/" + skuId;
    require(() -> consumer.api().put(path, strongProduct(policy, limit, stock)));
    require(() -> consumer.api().post(path + "/preheat", "{}"));
    require(() -> consumer.api().post(path + "/open", "{}"));
  }

  /** Creates, preheats and opens a sale in MySQL; Redis does not have it. */
  public void openInMySql(long skuId, String policy, int limit, long stock) {
    require(() -> consumer.api().put("/internal/v1/skus/" + skuId, product(policy, limit, stock)));
    require(() -> consumer.api().post("/internal/v1/skus/" + skuId + "/preheat", "{}"));
    // A repeat has raised it again.
    consumer.update("UPDATE products SET epoch = LEAST(epoch, 1) WHERE sku_id = ?", skuId);
    require(
        () -> consumer.api().post("/internal/v1/skus/" + skuId + "/state", "{\"state\":\"OPEN\"}"));
    consumer.redis().del(RedisKeys.sku(skuId), RedisKeys.stock(skuId));
  }

  /** Writes the sale to Redis as a preheat does: one bucket, epoch 1, state OPEN. */
  public void openInRedis(long skuId, String policy, int limit, long stock) {
    Map<String, String> sale = new LinkedHashMap<>();
    sale.put("policy", policy);
    sale.put("limit", Integer.toString(limit));
    sale.put("maxPerOrder", "100");
    sale.put("opensAt", "1767225600000");
    sale.put("closesAt", "2082758400123");
    sale.put("state", "OPEN");
    sale.put("epoch", "1");
    sale.put("bucketCount", "1");
    sale.put("seq", "0");
    sale.put("admittedOrders", "0");
    sale.put("admittedUnits", "0");
    sale.put("publishedOrders", "0");
    sale.put("publishedUnits", "0");
    sale.put("settled", "0");
    sale.put("changeSeq", "0");
    sale.put("expiresAt", "2082931200123");
    consumer.redis().hset(RedisKeys.sku(skuId), sale);
    consumer.redis().set(RedisKeys.stock(skuId), Long.toString(stock));
  }

  /** Opens the sale in MySQL and in Redis. */
  public void open(long skuId, String policy, int limit, long stock) {
    openInMySql(skuId, policy, limit, stock);
    openInRedis(skuId, policy, limit, stock);
  }

  /** Repeats a call while the answer says that a store does not answer. */
  private static void require(Callable<InternalApi.Answer> call) {
    InternalApi.Answer answer = eventually().until(call, given -> given.status() != 503);
    if (answer.status() / 100 != 2) {
      throw new IllegalStateException(answer.status() + " " + answer.text());
    }
  }
}
