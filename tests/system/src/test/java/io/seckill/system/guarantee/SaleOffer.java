package io.seckill.system.guarantee;

import io.seckill.common.order.PurchasePolicy;

/**
 * A SKU as a test put it on sale. Guarantees take stock and limit from here and not from the
 * pipeline's own tables, which may be wrong.
 *
 * @param limit units per user (L); 0 for no limit
 * @param stock opening stock + added - withdrawn (S)
 */
public record SaleOffer(long skuId, PurchasePolicy policy, int limit, long stock) {}
