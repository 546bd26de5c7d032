package io.seckill.gateway.verification;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.verification.StoredSales.Sale;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/** Reads servers and progress of sales from Redis, with one call for each partition. */
record RedisInspection(UnifiedJedis redis, RedisBreaker breaker) {

  private static final Logger log = LoggerFactory.getLogger(RedisInspection.class);
  private static final LuaScript SCRIPT = LuaScript.from(RedisInspection.class, "inspect.lua");
  private static final int FIELDS = 3;

  /**
   * A sale as stored in Redis; epoch and sequence are 0 and the state is empty if Redis does not
   * have it.
   */
  record Observation(String state, long epoch, long seq) {
    static final Observation ABSENT = new Observation("", 0, 0);
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
    for (int p = 0; p < Partition.COUNT; p++) {
      try {
        inspect(p, byPartition.getOrDefault(p, List.of()), view);
      } catch (JedisException | CallNotPermittedException e) { // a cluster node may be down
        log.debug("partition {} cannot be inspected: {}", p, e.toString());
      }
    }
    return view;
  }

  private void inspect(int partition, List<Sale> sales, View view) {
    List<String> args =
        Stream.concat(
                Stream.of(RedisKeys.prefix(partition)),
                sales.stream().map(sale -> Long.toString(sale.skuId())))
            .toList();
    List<String> keys = List.of(RedisKeys.outbox(partition));
    List<?> reply = (List<?>) breaker.call(partition, () -> SCRIPT.call(redis, keys, args));
    view.servers().put(partition, (String) reply.get(0));
    for (int i = 0; i < sales.size(); i++) {
      view.sales().put(sales.get(i).skuId(), observation(reply, 1 + i * FIELDS));
    }
  }

  private static Observation observation(List<?> reply, int at) {
    String state = (String) reply.get(at);
    return state.isEmpty()
        ? Observation.ABSENT
        : new Observation(state, number(reply.get(at + 1)), number(reply.get(at + 2)));
  }

  private static long number(Object text) {
    String digits = (String) text;
    return digits.matches("\\d{1,18}") ? Long.parseLong(digits) : 0;
  }
}
