package io.seckill.consumer.consistency;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.consistency.DatabaseBalanceItems.Progress;
import io.seckill.consumer.consistency.DatabaseSaleCounters.UnfinishedChange;
import io.seckill.consumer.consistency.SkuLedger.Queue;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * Reads the balance items of the SKUs of one order queue, in the order in which an order travels:
 * admissions, outbox and private queues at one moment, then the broker, then MySQL at one moment.
 * An order that moves meanwhile is therefore counted at least once; only what is missing in every
 * one of several reads is lost. Thread-safe.
 */
@Component
class LedgerReader {

  private final RedisBalanceItems redisTerms;
  private final BrokerBalanceItems brokerTerms;
  private final DatabaseBalanceItems mysqlTerms;
  private final UnifiedJedis redis;
  private final Clock clock;

  LedgerReader(
      RedisBalanceItems redisTerms,
      BrokerBalanceItems brokerTerms,
      DatabaseBalanceItems mysqlTerms,
      UnifiedJedis redis,
      Clock clock) {
    this.redisTerms = redisTerms;
    this.brokerTerms = brokerTerms;
    this.mysqlTerms = mysqlTerms;
    this.redis = redis;
    this.clock = clock;
  }

  /** The number of the queue that carries a SKU's orders, 0..3. */
  static int queueOf(long skuId) {
    return Partition.ofSku(skuId) % BrokerTopology.ORDER_QUEUES;
  }

  /**
   * @param skus all of one queue
   * @return a ledger for each that MySQL knows
   * @throws redis.clients.jedis.exceptions.JedisException when Redis is unavailable
   * @throws org.springframework.dao.DataAccessException when MySQL is unavailable
   */
  List<SkuLedger> read(int queue, Collection<Long> skus) {
    List<PartitionBalanceItems> partitions = redisTerms.read(partitionsOf(queue));
    Optional<QueueBalanceItems> broker = brokerTerms.read(BrokerTopology.orderQueue(queue));
    Map<Long, DatabaseSaleCounters> sales = mysqlTerms.read(skus);
    Queue judged = broker.map(terms -> judge(terms, partitions)).orElse(null);
    List<SkuLedger> ledgers = new ArrayList<>(sales.size());
    sales.values().forEach(sale -> ledgers.add(ledger(sale, partitions, judged)));
    return ledgers;
  }

  private static List<Integer> partitionsOf(int queue) {
    return IntStream.range(0, Partition.COUNT)
        .filter(partition -> partition % BrokerTopology.ORDER_QUEUES == queue)
        .boxed()
        .toList();
  }

  /** MySQL is queried last, so an order settled since Redis was read counts as settled. */
  private Queue judge(QueueBalanceItems terms, List<PartitionBalanceItems> partitions) {
    List<RedisSaleCounters> sales =
        partitions.stream().flatMap(partition -> partition.sales().stream()).toList();
    Map<Long, Progress> progress =
        mysqlTerms.progress(sales.stream().map(RedisSaleCounters::skuId).toList());
    long expected =
        sales.stream().mapToLong(sale -> inBroker(sale, progress.get(sale.skuId()))).sum();
    return new Queue(
        terms.queue(),
        terms.ready(),
        terms.unacked(),
        expected,
        expected - terms.ready() - terms.unacked());
  }

  /** Returns 0 for a sale that is being preheated, or that MySQL has in another epoch. */
  private static long inBroker(RedisSaleCounters sale, @Nullable Progress progress) {
    return progress == null || progress.epoch() != sale.epoch()
        ? 0
        : Math.max(
            0,
            sale.seq()
                - progress.settled()
                - sale.awaitingRelay().orders()
                - progress.deadLetters());
  }

  private SkuLedger ledger(
      DatabaseSaleCounters sale, List<PartitionBalanceItems> partitions, @Nullable Queue queue) {
    int number = Partition.ofSku(sale.skuId());
    PartitionBalanceItems partition =
        partitions.stream().filter(terms -> terms.partition() == number).findFirst().orElseThrow();
    RedisSaleCounters inRedis =
        partition.sales().stream()
            .filter(candidate -> candidate.skuId() == sale.skuId())
            .findFirst()
            .orElse(null);
    long changing = sale.unfinished().stream().mapToLong(change -> changing(sale, change)).sum();
    return new BalanceCheck(sale, inRedis, partition, queue, changing).solve(clock.instant());
  }

  /**
   * Units that only one store contains: those of an addition until Redis has applied it, those of a
   * withdrawal from when Redis has applied it until MySQL has.
   */
  private long changing(DatabaseSaleCounters sale, UnfinishedChange change) {
    String known = redis.hget(RedisKeys.stockChanges(sale.skuId()), change.changeId());
    boolean inRedis =
        known != null && known.startsWith(change.epoch() + ":") && known.endsWith(":A");
    if (change.delta() > 0) {
      return change.inMySql() && !inRedis ? change.delta() : 0;
    }
    return inRedis ? -change.delta() : 0;
  }
}
