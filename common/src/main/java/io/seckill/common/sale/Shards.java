package io.seckill.common.sale;

import io.seckill.common.order.Partition;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.LongStream;
import java.util.zip.CRC32;

/**
 * Ids of shards (docs/adr/0028-a-shard-is-a-product.md). A shard is a product of its own, in a
 * partition of its own, with a part of the SKU's stock. Its id follows from the SKU and its number,
 * and they from the id, so nothing is looked up.
 */
public final class Shards {

  /** Most shards of a SKU: each is in another partition. */
  public static final int MOST = Partition.COUNT;

  /** The lowest id of a shard; a SKU has a lower one. */
  public static final long FIRST_ID = 1L << 52;

  /** The largest SKU that may have shards: their ids are below 2^53-16. */
  public static final long LARGEST_SKU = (1L << 48) - 2;

  private Shards() {}

  public static boolean isCount(long shards) {
    return shards >= 1 && shards <= MOST && Long.bitCount(shards) == 1;
  }

  /**
   * @param sku 1..{@link #LARGEST_SKU}
   * @param shard 0..15; in partition {@code (sku + shard) mod 16}
   */
  public static long id(long sku, int shard) {
    if (sku < 1 || sku > LARGEST_SKU || shard < 0 || shard >= MOST) {
      throw new IllegalArgumentException("no shard " + shard + " of sku " + sku);
    }
    return FIRST_ID + sku * MOST + (sku + shard) % MOST;
  }

  public static boolean isShard(long id) {
    return id >= FIRST_ID && sku(id) <= LARGEST_SKU;
  }

  /** The SKU of a shard; any other id is that of a SKU itself. */
  public static long sku(long id) {
    return id < FIRST_ID ? id : (id - FIRST_ID) / MOST;
  }

  /** The number of a shard within its SKU. */
  public static int shard(long id) {
    return (int) Math.floorMod(id % MOST - sku(id) % MOST, (long) MOST);
  }

  /**
   * The shard of a shopper. Not {@code userId mod count}: the users of a shard are spread over
   * buckets by {@code userId mod bucketCount}, and a common divisor would leave some empty.
   *
   * @param count 1, 2, 4, 8 or 16
   */
  public static int of(long userId, int count) {
    CRC32 crc = new CRC32();
    crc.update(Long.toString(userId).getBytes(StandardCharsets.US_ASCII));
    return (int) (crc.getValue() % count);
  }

  /** The product that a user buys of a SKU: a shard of it if it has more than one. */
  public static long purchased(long sku, long userId, int count) {
    return count == 1 ? sku : id(sku, of(userId, count));
  }

  /** Ids of the shards of a SKU, in ascending order; none if it has no shards but itself. */
  public static List<Long> ids(long sku, int count) {
    return LongStream.range(0, count == 1 ? 0 : count)
        .map(shard -> id(sku, (int) shard))
        .sorted()
        .boxed()
        .toList();
  }
}
