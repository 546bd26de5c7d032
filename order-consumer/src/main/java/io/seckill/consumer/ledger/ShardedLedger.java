package io.seckill.consumer.ledger;

import io.seckill.common.order.Partition;
import io.seckill.consumer.ledger.SkuLedger.Lists;
import io.seckill.consumer.ledger.SkuLedger.MySql;
import io.seckill.consumer.ledger.SkuLedger.Orders;
import io.seckill.consumer.ledger.SkuLedger.Units;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Adds up the ledgers of a SKU's shards: all units ever put on sale are in a shard or in the pool,
 * and the row of the SKU, which no move changes, has their number.
 *
 * @param sku as a strong sale: its stock is the pool
 * @param shards read before it
 */
record ShardedLedger(SkuLedger sku, List<SkuLedger> shards) {

  SkuLedger solve() {
    Units units = units();
    MySql mysql = mysql(units);
    boolean balanced =
        units.difference() == 0
            && mysql.difference() == 0
            && shards.stream().allMatch(SkuLedger::balanced);
    return new SkuLedger(
        sku.skuId(),
        sku.decides(),
        sku.state(),
        sku.epoch(),
        shards.stream().map(SkuLedger::readAt).min(Comparator.naturalOrder()).orElse(Instant.MIN),
        balanced,
        null,
        units,
        orders(),
        mysql,
        Lists.none(Partition.ofSku(sku.skuId())),
        null,
        sku.units().stock(),
        shards,
        false);
  }

  private long total() {
    return sku.units().initial() + sku.units().added() - sku.units().withdrawn();
  }

  private Units units() {
    return new Units(
        sku.units().initial(),
        sku.units().added(),
        sku.units().withdrawn(),
        sku.units().stock() + units(Units::stock),
        units(Units::outboxAndPrivateQueues),
        units(Units::broker),
        units(Units::deadLetters),
        units(Units::confirmed),
        units(Units::paid),
        units(Units::compensating),
        units(Units::changing));
  }

  private Orders orders() {
    return new Orders(
        orders(Orders::admitted),
        orders(Orders::outboxAndPrivateQueues),
        orders(Orders::broker),
        orders(Orders::deadLetters),
        orders(Orders::confirmed),
        orders(Orders::paid),
        orders(Orders::cancelled),
        orders(Orders::expired),
        orders(Orders::rejected),
        orders(Orders::aliases),
        orders(Orders::difference));
  }

  private MySql mysql(Units units) {
    long stock =
        sku.mysql().stock() + shards.stream().mapToLong(shard -> shard.mysql().stock()).sum();
    long expected = total() - units.confirmed() - units.paid();
    return new MySql(stock, expected, expected - stock);
  }

  private long units(ToLongFunction<Units> item) {
    return shards.stream().map(SkuLedger::units).mapToLong(item).sum();
  }

  private long orders(ToLongFunction<Orders> item) {
    return shards.stream().map(SkuLedger::orders).mapToLong(item).sum();
  }
}
