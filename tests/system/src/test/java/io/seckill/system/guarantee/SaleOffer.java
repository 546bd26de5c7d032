package io.seckill.system.guarantee;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.Shards;
import java.util.ArrayList;
import java.util.List;

/**
 * A SKU as a test put it on sale. Guarantees take stock and limit from here and not from the
 * pipeline's own tables, which may be wrong.
 *
 * @param limit units per user (L); 0 for no limit
 * @param stock opening stock + added - withdrawn (S)
 * @param decides MYSQL for a strong sale
 * @param shards in which it is sold; 1 for none
 */
public record SaleOffer(
    long skuId, PurchasePolicy policy, int limit, long stock, Decider decides, int shards) {

  /** A sale that Redis decides. */
  public SaleOffer(long skuId, PurchasePolicy policy, int limit, long stock) {
    this(skuId, policy, limit, stock, Decider.REDIS, 1);
  }

  /** The same as a strong sale. */
  public SaleOffer strong() {
    return new SaleOffer(skuId, policy, limit, stock, Decider.MYSQL, 1);
  }

  /** The same in shards. */
  public SaleOffer inShards(int count) {
    return new SaleOffer(skuId, policy, limit, stock, decides, count);
  }

  /** Ids of all its rows of {@code products}: its own, and those of its shards. */
  public List<Long> rows() {
    List<Long> rows = new ArrayList<>(Shards.ids(skuId, shards));
    rows.add(skuId);
    return rows;
  }

  /** The ids under which Redis has it. */
  public List<Long> inRedis() {
    return shards == 1 ? List.of(skuId) : Shards.ids(skuId, shards);
  }

  public boolean isStrong() {
    return decides == Decider.MYSQL;
  }
}
