package io.seckill.consumer.shards;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Shards are preheated and reconciled each by itself. */
@ExtendWith(TestServers.class)
class ShardLoadingIT extends SkuInShards {

  @Test
  void aPreheatThatOneShardRefusesChangesNoRow() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    state("CLOSED");
    String columns = "CONCAT_WS(' ', state, epoch, state_version)";
    String sale = consumer.product(sku, columns);
    Set<String> ofShards = rows(columns);
    long busy = shards.get(3);
    long settled = Long.parseLong(consumer.product(busy, "settled"));
    redis.hset(RedisKeys.sku(busy), "seq", Long.toString(settled + 1));

    assertThat(api.post(path + "/preheat").code()).isEqualTo("ORDERS_IN_FLIGHT");

    assertThat(consumer.product(sku, columns)).isEqualTo(sale).startsWith("CLOSED");
    assertThat(rows(columns)).isEqualTo(ofShards);
    redis.hset(RedisKeys.sku(busy), "seq", Long.toString(settled));
    assertThat(api.post(path + "/preheat").status()).isEqualTo(200);
    state("CLOSED");
  }

  /** Look and preheat are of the SKU; each shard has a report of its own. */
  @Test
  void aPreheatGivesUpAPaidOrderOfAShardThatMySqlHasLostOnceALookHasListedIt() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    state("CLOSED");
    long shard = shards.get(3);
    String lost = OrderId.of(OrderId.EPOCH_MS + sku, Partition.ofSku(shard), 200, 1).toString();
    long seq = Long.parseLong(consumer.product(shard, "settled")) + 1;
    int buckets = Integer.parseInt(redis.hget(RedisKeys.sku(shard), "bucketCount"));
    redis.hset(
        RedisKeys.bucket(shard, RedisKeys.bucketOf(7, buckets)),
        lost,
        "7|1|" + seq + "|1790000000000|1|P|");
    redis.hset(RedisKeys.sku(shard), "seq", Long.toString(seq));
    assertThat(sent("preheat").code()).isEqualTo("ORDERS_IN_FLIGHT");

    eventually()
        .until(() -> api.post(path + "/reconciliation", "{\"dryRun\":true}").text().contains(lost));

    Answer preheated = sent("preheat");
    assertThat(preheated.status()).as(preheated.text()).isEqualTo(200);
    assertThat(redis.hget(RedisKeys.sku(shard), "seq"))
        .isEqualTo(consumer.product(shard, "settled"));
    state("CLOSED");
  }

  /** Its numbers show nothing, and a barrier would not pass behind the order. */
  @Test
  void aPreheatChangesNoRowWhileOrdersOfALostShardAreOnTheirWay() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    state("CLOSED");
    String columns = "CONCAT_WS(' ', state, epoch, state_version)";
    String sale = consumer.product(sku, columns);
    Set<String> ofShards = rows(columns);
    long lost = shards.get(3);
    String outbox = RedisKeys.outbox(Partition.ofSku(lost));
    redis.hset(RedisKeys.sku(lost), "epoch", "0");
    String order =
        OrderMessageCodec.encode(OrderFlood.order(lost, PurchasePolicy.ONE_PER_USER, 7, 1));
    redis.lpush(outbox, order);

    String refusal;
    try {
      refusal = sent("preheat").code();
    } finally {
      redis.lrem(outbox, 0, order);
    }

    assertThat(refusal).isEqualTo("ORDERS_IN_FLIGHT");
    assertThat(consumer.product(sku, columns)).isEqualTo(sale).startsWith("CLOSED");
    assertThat(rows(columns)).isEqualTo(ofShards);
    eventually().until(() -> api.post(path + "/preheat").status() == 200); // a barrier has passed
    state("CLOSED");
  }

  /** They come to the shards only while these sell, and then there are no more buckets. */
  @Test
  void aShardHasBucketsForItsPartOfTheUnitsThatWereAddedBeforeThePreheat() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    assertThat(inRedis("bucketCount")).containsExactly("256");
    state("CLOSED");
    assertThat(change("second-sale-" + sku, 40_000).text("state")).isEqualTo("DONE");

    assertThat(sent("preheat").status()).isEqualTo(200);

    assertThat(inRedis("bucketCount")).as("10,100 units, 28 each").containsExactly("361");
    state("CLOSED");
  }

  @Test
  void aShardNeedsFiftyOrdersAndTheSkuOneOfTheCounts() {
    assertThat(api.put(path, product(199)).status()).isEqualTo(201);
    assertThat(api.post(path + "/preheat").code()).isEqualTo("REFUSED");
    assertThat(consumer.product(sku, "state")).isEqualTo("NEW");

    for (String wrong : List.of("0", "3", "32", "-1")) {
      assertThat(api.put(path, product(199).replace("\"shards\":4", "\"shards\":" + wrong)).field())
          .isEqualTo("shards");
    }
    assertThat(
            api.put(path, product(199).replace("\"stock\"", "\"decides\":\"MYSQL\",\"stock\""))
                .field())
        .isEqualTo("shards");
    long shard = shards.get(0);
    assertThat(api.put("/internal/v1/skus/" + shard, product(400)).field()).isEqualTo("skuId");
  }

  @Test
  void theLargestSkuWithShards() {
    String body = product(800).replace("\"shards\":4", "\"shards\":16");
    String largest = "/internal/v1/skus/" + Shards.LARGEST_SKU;
    assertThat(api.put("/internal/v1/skus/" + (Shards.LARGEST_SKU + 1), body).field())
        .isEqualTo("shards");
    assertThat(api.put(largest, body).status()).isEqualTo(201);
    assertThat(api.post(largest + "/preheat").status()).isEqualTo(200);
    assertThat(api.post(largest + "/open").number("skuId")).isEqualTo(Shards.LARGEST_SKU);
    for (long shard : Shards.ids(Shards.LARGEST_SKU, 16)) {
      assertThat(stock(shard)).isEqualTo(50);
      sell(shard, 7);
      assertThat(consumer.product(shard, "stock")).isEqualTo("49");
    }
    assertThat(api.post(largest + "/state", "{\"state\":\"CLOSED\"}").number("stock"))
        .isEqualTo(784);
  }

  @Test
  void aShardThatCannotBeReconciledKeepsNoOtherFromIt() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    redis.hset(RedisKeys.bucket(shards.get(0), 0), "written-by-nobody", "1");
    redis.incrBy(RedisKeys.stock(shards.get(3)), 7);

    Answer answer = api.post(path + "/reconciliation", "{\"dryRun\":false}");

    assertThat(answer.text("outcome")).as(answer.text()).isEqualTo("UNPROVEN");
    assertThat(stock(shards.get(3))).isEqualTo(100);
    state("CLOSED");
  }

  /** The others may wait for their orders in flight for longer than the caller does. */
  @Test
  void aLostShardIsReconciledBeforeTheOthers() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    long lost = Shards.id(sku, 3);
    redis.del(RedisKeys.sku(lost), RedisKeys.stock(lost));

    Answer answer = api.post(path + "/reconciliation", "{\"dryRun\":false}");

    assertThat(outcomes(answer))
        .as(answer.text())
        .containsExactly("CLEAN", "CLEAN", "CLEAN", "REBUILT");
    List<Long> stored =
        answer.body().path("shards").valueStream().map(part -> part.path("id").asLong()).toList();
    assertThat(stored).as("the number of its row").allMatch(row -> row >= stored.get(3));
    state("CLOSED");
  }
}
