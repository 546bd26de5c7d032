package io.seckill.system.faults;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Shards;
import io.seckill.system.guarantee.SaleOffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * A purchase that one shopper of the load makes.
 *
 * @param after what the shopper does after the purchase is accepted
 */
record PlannedPurchase(long userId, long skuId, String key, int quantity, After after) {

  private static final int SHARDS = 4;

  /** Among so many users are some of each shard. */
  private static final long APART = 1_000;

  /** What a shopper does after the purchase is accepted. */
  enum After {
    NOTHING,
    /** Sends the same request again: the answer must be the same order. */
    REPEAT,
    /** Sends the same key with another quantity: it must be refused. */
    OTHER_QUANTITY,
    PAY,
    CANCEL
  }

  /**
   * The four sales of a run, in neighbouring partitions and so in all four queues: one that sells
   * out with one unit per user, one that reaches both quota and sell-out, one with ample stock, one
   * without quota.
   */
  static List<SaleOffer> sales(long firstSku, int purchases) {
    int each = purchases / 4;
    long ample = each * 4L + LoadGenerator.MOST_LATECOMERS;
    return List.of(
        new SaleOffer(firstSku, PurchasePolicy.ONE_PER_USER, 1, each * 5L / 6),
        new SaleOffer(firstSku + 1, PurchasePolicy.LIMITED, 3, each * 14L / 15),
        new SaleOffer(firstSku + 2, PurchasePolicy.LIMITED, 4, ample),
        new SaleOffer(firstSku + 3, PurchasePolicy.UNLIMITED, 0, ample));
  }

  /** The same, the first of them in four shards, in four partitions of their own. */
  static List<SaleOffer> salesWithShards(long firstSku, int purchases) {
    List<SaleOffer> sales = new ArrayList<>(sales(firstSku, purchases));
    SaleOffer first = sales.get(0);
    sales.set(
        0,
        new SaleOffer(firstSku + sales.size(), first.policy(), first.limit(), first.stock())
            .inShards(SHARDS));
    return sales;
  }

  /** Returns purchases of all sales in turn. */
  static List<PlannedPurchase> of(List<SaleOffer> sales, int purchases) {
    List<PlannedPurchase> plan = new ArrayList<>();
    for (int i = 0; i < purchases / sales.size(); i++) {
      for (int sale = 0; sale < sales.size(); sale++) {
        plan.add(purchase(sales.get(sale), sale, i));
      }
    }
    return plan;
  }

  private static PlannedPurchase purchase(SaleOffer offer, int sale, int i) {
    long skuId = offer.skuId();
    String key = "purchase-" + skuId + "-" + i;
    After after = after(i);
    return switch (sale) {
      case 0 -> new PlannedPurchase(user(offer, i % 10 == 9 ? i : i + 1), skuId, key, 1, after);
      case 1 -> new PlannedPurchase(1 + i / 3, skuId, key, 1 + i % 2, after);
      case 2 -> new PlannedPurchase(1 + i / 2, skuId, key, 2, after);
      default -> new PlannedPurchase(1 + i % 97, skuId, key, 1 + i % 3, after);
    };
  }

  /** Of shards the first has more than half of the shoppers, so that units have to move. */
  private static long user(SaleOffer offer, int n) {
    if (offer.shards() == 1) {
      return n;
    }
    return LongStream.iterate(APART * n, user -> user + 1)
        .filter(user -> n % 2 == 0 || Shards.of(user, offer.shards()) == 0)
        .findFirst()
        .orElseThrow();
  }

  private static After after(int i) {
    return switch (i % 20) {
      case 3, 11 -> After.REPEAT;
      case 7 -> After.OTHER_QUANTITY;
      case 13 -> After.PAY;
      case 17 -> After.CANCEL;
      default -> After.NOTHING;
    };
  }
}
