package io.seckill.bench.baseline;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Sold;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.redis.LuaScript;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;

/**
 * One call of {@code decide.lua} per purchase, which decides and records in Redis alone: there are
 * no rows, and nothing that a relay could carry to MySQL. Used by all shoppers.
 */
public final class ScriptSeller implements Seller {

  private static final LuaScript SCRIPT = LuaScript.from(ScriptSeller.class, "decide.lua");

  private final UnifiedJedis redis;
  private final BenchSale sale;
  private final List<String> keys;

  /** Puts the stock of the sale into Redis. */
  public ScriptSeller(UnifiedJedis redis, BenchSale sale) {
    this.redis = redis;
    this.sale = sale;
    String prefix = "bench:{" + sale.skuId() + "}:";
    this.keys = List.of(prefix + "stock", prefix + "requests", prefix + "quota");
    redis.set(keys.get(0), "" + sale.stock());
  }

  @Override
  public Verdict sell(OrderMessage purchase) {
    List<String> arguments =
        List.of(
            "" + purchase.userId(),
            purchase.requestId(),
            purchase.orderId().toString(),
            "" + BenchSale.UNITS_PER_USER);
    return Verdict.valueOf((String) SCRIPT.call(redis, keys, arguments));
  }

  /** Returns what Redis has recorded. */
  public Sold sold() {
    long requests = redis.hlen(keys.get(1));
    long most = redis.hvals(keys.get(2)).stream().mapToLong(Long::parseLong).max().orElse(0);
    return new Sold(
        requests, requests, most, sale.stock() - Long.parseLong(redis.get(keys.get(0))));
  }

  /** Deletes what Redis has recorded. */
  @Override
  public void close() {
    redis.unlink(keys.toArray(String[]::new));
  }
}
