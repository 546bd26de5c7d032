package io.seckill.gateway.verification;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.verification.StoredSales.Sale;
import io.seckill.support.logging.ThrottledLog;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** Reads servers and progress of sales from Redis. */
final class RedisInspection {

  private static final Logger log = LoggerFactory.getLogger(RedisInspection.class);
  private static final LuaScript SCRIPT = LuaScript.from(RedisInspection.class, "inspect.lua");
  private static final int FIELDS = 4;

  /** A call with so many sales takes milliseconds: the breaker takes none for slow. */
  private static final int MOST_TOGETHER = 1_000;

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final ThrottledLog refusals = new ThrottledLog(log);

  RedisInspection(UnifiedJedis redis, RedisBreaker breaker) {
    this.redis = redis;
    this.breaker = breaker;
  }

  RedisBreaker breaker() {
    return breaker;
  }

  /**
   * A sale as stored in Redis; the numbers are 0 and the state is empty if Redis does not have it.
   *
   * @param changeSeq number of the last change of its stock in this epoch; the highest number for a
   *     sale that a former release has loaded, which has none: MySQL may have an earlier epoch's
   */
  record Observation(String state, long epoch, long seq, long changeSeq) {
    static final Observation ABSENT = new Observation("", 0, 0, 0);
  }

  /**
   * The partitions that answered.
   *
   * @param servers replication id of each of these partitions
   * @param sales by SKU, of these partitions
   */
  record View(Map<Integer, String> servers, Map<Long, Observation> sales) {}

  View inspect(List<Sale> sales) {
    Map<Integer, List<Sale>> byPartition =
        sales.stream().collect(Collectors.groupingBy(sale -> Partition.ofSku(sale.skuId())));
    View view = new View(new TreeMap<>(), new HashMap<>());
    if (sales.size() <= MOST_TOGETHER && inspectTogether(byPartition, view)) {
      return view;
    }
    for (int p = 0; p < Partition.COUNT; p++) {
      try {
        inspect(p, byPartition.getOrDefault(p, List.of()), view);
      } catch (JedisDataException e) { // Redis answers, and refuses
        refusals.warn("partition " + p + " cannot be inspected", e);
      } catch (JedisException | CallNotPermittedException e) { // a cluster node may be down
        log.debug("partition {} cannot be inspected: {}", p, e.toString());
      }
    }
    return view;
  }

  /**
   * In one round trip, where one server has all partitions and answers. Returns false when nothing
   * was added to the view.
   */
  private boolean inspectTogether(Map<Integer, List<Sale>> byPartition, View view) {
    if (RedisClients.areApart(redis) || !breaker.isClosed(0)) {
      return false;
    }
    List<List<String>> keys = new ArrayList<>();
    List<List<String>> args = new ArrayList<>();
    for (int p = 0; p < Partition.COUNT; p++) {
      keys.add(keys(p));
      args.add(args(p, byPartition.getOrDefault(p, List.of())));
    }
    try {
      List<Object> replies = breaker.call(0, () -> SCRIPT.callEach(redis, keys, args));
      for (int p = 0; p < Partition.COUNT; p++) {
        add(view, p, byPartition.getOrDefault(p, List.of()), replies.get(p));
      }
      return true;
    } catch (JedisException | CallNotPermittedException e) { // perhaps of one partition only
      log.debug("the partitions cannot be inspected together: {}", e.toString());
      return false;
    }
  }

  private void inspect(int partition, List<Sale> sales, View view) {
    Object reply =
        breaker.call(partition, () -> SCRIPT.call(redis, keys(partition), args(partition, sales)));
    add(view, partition, sales, reply);
  }

  private static List<String> keys(int partition) {
    return List.of(RedisKeys.outbox(partition), RedisKeys.absent(partition));
  }

  private static List<String> args(int partition, List<Sale> sales) {
    return Stream.concat(
            Stream.of(RedisKeys.prefix(partition)),
            sales.stream().map(sale -> Long.toString(sale.skuId())))
        .toList();
  }

  private static void add(View view, int partition, List<Sale> sales, Object answer) {
    List<?> reply = (List<?>) answer;
    view.servers().put(partition, (String) reply.get(0));
    for (int i = 0; i < sales.size(); i++) {
      view.sales().put(sales.get(i).skuId(), observation(reply, 1 + i * FIELDS));
    }
  }

  private static Observation observation(List<?> reply, int at) {
    String state = (String) reply.get(at);
    return state.isEmpty()
        ? Observation.ABSENT
        : new Observation(
            state,
            number(reply.get(at + 1)),
            number(reply.get(at + 2)),
            "".equals(reply.get(at + 3)) ? Long.MAX_VALUE : number(reply.get(at + 3)));
  }

  /** 0 for what {@code admit.lua} does not take either. */
  private static long number(Object text) {
    String digits = (String) text;
    return digits.matches("\\d{1,14}") ? Long.parseLong(digits) : 0;
  }
}
