package io.seckill.consumer.products;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.SaleExpiry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/** Writes a later closing time to Redis, with all the expiries that depend on it. */
@Component
public record SaleExtension(UnifiedJedis redis) {

  /** Bounds the expiries set by one call. */
  private static final int BUCKETS_AT_ONCE = 256;

  private static final LuaScript CLOSING = LuaScript.from(SaleExtension.class, "sale_closing.lua");

  /**
   * Extends the sale in Redis to this closing time, some buckets at a time; does nothing when Redis
   * does not have the sale, or closes it later. May be repeated; a repeat continues where the
   * previous call was interrupted.
   */
  public void extend(long sku, Instant closesAt, SaleExpiry expiry) {
    List<String> others =
        List.of(
            RedisKeys.stock(sku),
            RedisKeys.stockChanges(sku),
            RedisKeys.skus(Partition.ofSku(sku)));
    Closing later = new Closing(sku, closesAt, expiry);
    Extended extended = closing("prepare", later, others, 0);
    while (extended.done() < extended.buckets()) {
      int to = Math.min(extended.buckets(), extended.done() + BUCKETS_AT_ONCE);
      extended = closing("buckets", later, buckets(sku, extended.done(), to), to);
    }
    closing("finish", later, List.of(), 0);
  }

  private record Closing(long sku, Instant closesAt, SaleExpiry expiry) {}

  /**
   * The progress of an extension.
   *
   * @param buckets number of buckets of the sale; 0 when there is nothing to extend
   * @param done first bucket that is not extended yet
   */
  private record Extended(int buckets, int done) {}

  private Extended closing(String step, Closing later, List<String> others, int done) {
    List<String> keys = new ArrayList<>(List.of(RedisKeys.sku(later.sku())));
    keys.addAll(others);
    List<?> reply =
        (List<?>)
            CLOSING.call(
                redis,
                keys,
                List.of(
                    step,
                    Long.toString(later.closesAt().toEpochMilli()),
                    Long.toString(later.expiry().restMs()),
                    Long.toString(later.expiry().rulesMs()),
                    Integer.toString(done)));
    return new Extended(Math.toIntExact((Long) reply.get(0)), Math.toIntExact((Long) reply.get(1)));
  }

  private static List<String> buckets(long sku, int from, int to) {
    return IntStream.range(from, to).mapToObj(bucket -> RedisKeys.bucket(sku, bucket)).toList();
  }
}
