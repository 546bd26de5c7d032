package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.process.Service;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;

/** Redis memory per order beyond its message, once a sale is sold out, and per refusal. */
final class Memory implements Stage {

  private static final int UNITS = 50_000;
  private static final int TOO_LATE = 20_000;

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.CONSUMER, Service.GATEWAY);
    lab.progress().now("memory: selling 50 000 units while no relay runs");
    BenchSale sale = lab.newSale(UNITS);
    String outbox = RedisKeys.outbox(sale.partition());
    long before = usedBytes(lab.redis());
    buy(lab, sale, UNITS);
    long outboxed = lab.redis().memoryUsage(outbox, 0);
    long after = usedBytes(lab.redis());
    figures.add("redis.bytes_per_order", (after - before - outboxed) / (double) UNITS);
    figures.add("redis.message_bytes_per_order", outboxed / (double) lab.redis().llen(outbox));
    buy(lab, sale, TOO_LATE);
    figures.add("redis.bytes_per_refusal", (usedBytes(lab.redis()) - after) / (double) TOO_LATE);
    Outbox orders = new Outbox(lab.redis());
    orders.clear();
    orders.forget(sale);
  }

  private static void buy(Lab lab, BenchSale sale, int count) throws Exception {
    PatientShoppers shoppers =
        new PatientShoppers(new ReadyPurchases(lab, sale, count), answer -> {});
    shoppers.buy();
    shoppers.insist();
  }

  /** Excludes the buffers of connections and of the append-only file, which vary. */
  static long usedBytes(UnifiedJedis redis) {
    String info = redis.info("memory");
    return field(info, "used_memory")
        - field(info, "mem_clients_normal")
        - field(info, "mem_aof_buffer");
  }

  private static long field(String info, String name) {
    return info.lines()
        .filter(line -> line.startsWith(name + ":"))
        .mapToLong(line -> Long.parseLong(line.substring(name.length() + 1).strip()))
        .findFirst()
        .orElse(0);
  }

  @Override
  public List<Row> rows() {
    List<Row> rows =
        new ArrayList<>(
            List.of(
                Row.of(
                    "Redis memory per admitted order beyond its message", "redis.bytes_per_order"),
                Row.of("its message in the outbox", "redis.message_bytes_per_order"),
                Row.of("Redis memory per refused purchase", "redis.bytes_per_refusal")));
    for (Service service : Service.values()) {
      rows.add(Row.of("peak heap of " + service.module(), HeapWatch.key(service)));
    }
    return rows;
  }
}
