package io.seckill.system.faults;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.guarantee.SaleOffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A purchase that one shopper of the load makes.
 *
 * @param after what the shopper does after the purchase is accepted
 */
record PlannedPurchase(long userId, long skuId, String key, int quantity, After after) {

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
    return List.of(
        new SaleOffer(firstSku, PurchasePolicy.ONE_PER_USER, 1, each * 5L / 6),
        new SaleOffer(firstSku + 1, PurchasePolicy.LIMITED, 3, each * 14L / 15),
        new SaleOffer(firstSku + 2, PurchasePolicy.LIMITED, 4, each * 4L),
        new SaleOffer(firstSku + 3, PurchasePolicy.UNLIMITED, 0, each * 4L));
  }

  /** Returns purchases of all sales in turn. */
  static List<PlannedPurchase> of(List<SaleOffer> sales, int purchases) {
    List<PlannedPurchase> plan = new ArrayList<>();
    for (int i = 0; i < purchases / sales.size(); i++) {
      for (int sale = 0; sale < sales.size(); sale++) {
        plan.add(purchase(sales.get(sale).skuId(), sale, i));
      }
    }
    return plan;
  }

  private static PlannedPurchase purchase(long skuId, int sale, int i) {
    String key = "purchase-" + skuId + "-" + i;
    After after = after(i);
    return switch (sale) {
      case 0 -> new PlannedPurchase(i % 10 == 9 ? i : i + 1, skuId, key, 1, after);
      case 1 -> new PlannedPurchase(1 + i / 3, skuId, key, 1 + i % 2, after);
      case 2 -> new PlannedPurchase(1 + i / 2, skuId, key, 2, after);
      default -> new PlannedPurchase(1 + i % 97, skuId, key, 1 + i % 3, after);
    };
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
