package io.seckill.consumer.sales;

import io.seckill.common.order.Partition;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.consumer.products.Product;
import io.seckill.consumer.products.Products;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The stops that were pending when Redis last answered. MySQL gets them without Redis: a fallback
 * may begin before Redis answers again, and would sell the stopped sales. For one thread.
 */
@Component
final class RememberedStops {

  private final SaleStates states;
  private final Products products;
  private final TransactionOperations transactions;
  private final List<Remembered> all = new ArrayList<>();

  RememberedStops(SaleStates states, Products products, TransactionOperations transactions) {
    this.states = states;
    this.products = products;
    this.transactions = transactions;
  }

  /**
   * @param version number of the last state change that Redis had when the stop was pending
   */
  record Remembered(PendingStop stop, long version) {

    private int partition() {
      return Partition.ofSku(stop.skuId());
    }
  }

  /**
   * Remembers these instead of all others of their partition.
   *
   * @throws JedisException when Redis does not answer; those from before are kept
   */
  void remember(int partition, List<PendingStop> pending) {
    List<Remembered> now = pending.stream().flatMap(stop -> read(stop).stream()).toList();
    all.removeIf(one -> one.partition() == partition);
    all.addAll(now);
  }

  /** Reads the version first: Redis takes none while a stop is pending, so the stop is later. */
  private Optional<Remembered> read(PendingStop stop) {
    long version = states.version(stop.skuId());
    return states
        .pendingStop(stop.skuId())
        .filter(stop::equals)
        .map(pending -> new Remembered(pending, version));
  }

  /** Those of all partitions but these. */
  List<Remembered> besides(Set<Integer> partitions) {
    return all.stream().filter(one -> !partitions.contains(one.partition())).toList();
  }

  /**
   * Writes a stop to MySQL, with all shards of the SKU, unless the state of its sale may have
   * changed since, and forgets it. In Redis it stays pending, and ends there like any other.
   */
  void take(Remembered one) {
    transactions.executeWithoutResult(
        tx -> {
          long skuId = one.stop().skuId();
          SaleState target = SaleState.valueOf(one.stop().state());
          List<Product> locked = products.lockWithShards(skuId);
          if (locked.stream().anyMatch(row -> row.skuId() == skuId && isLast(one.version(), row))) {
            locked.forEach(row -> row.move(target, 0));
          }
        });
    all.remove(one);
  }

  /**
   * Whether nothing has raised the number since but the beginning of one fallback. Redis may have
   * shown a later one, also in a fallback: a stop that is pending there keeps it as it is.
   *
   * @param version number of the last state change that Redis has
   */
  static boolean isLast(long version, Product row) {
    long since = row.row().stateVersion() - version;
    return switch (row.phase()) {
      case REDIS, LOADING, RETURNING -> since == 0;
      case ENTERING -> since == 0 || since == 1;
      case MYSQL -> since == 0 || since == 2;
      case STRONG, SHARDED -> false;
    };
  }
}
