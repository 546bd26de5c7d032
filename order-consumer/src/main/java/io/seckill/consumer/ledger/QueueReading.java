package io.seckill.consumer.ledger;

import io.seckill.common.order.Partition;
import io.seckill.consumer.ledger.RedisBalanceItems.PartitionItems;
import io.seckill.consumer.ledger.SkuLedger.Queue;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The balance items of one order queue in Redis and the broker, for the ledgers of all its SKUs.
 *
 * @param at before the first of them was read
 * @param missing why the other partitions of the queue could not be read
 * @param checked null when the queue was not checked
 */
record QueueReading(
    Instant at,
    List<PartitionItems> partitions,
    Map<Integer, JedisException> missing,
    @Nullable Queue checked) {

  /**
   * @throws JedisException when the SKU's partition could not be read
   */
  PartitionItems of(long skuId) {
    int partition = Partition.ofSku(skuId);
    return partitions.stream()
        .filter(items -> items.lists().partition() == partition)
        .findFirst()
        .orElseThrow(() -> Objects.requireNonNull(missing.get(partition)));
  }
}
