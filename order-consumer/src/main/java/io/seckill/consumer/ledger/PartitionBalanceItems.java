package io.seckill.consumer.ledger;

import io.seckill.consumer.ledger.SkuLedger.Lists;
import java.util.List;
import java.util.Optional;

/**
 * The contents of one Redis partition, all read at one moment.
 *
 * @param sales every SKU preheated in the partition
 */
record PartitionBalanceItems(Lists lists, List<RedisSaleCounters> sales) {

  Optional<RedisSaleCounters> sale(long skuId) {
    return sales.stream().filter(sale -> sale.skuId() == skuId).findFirst();
  }
}
