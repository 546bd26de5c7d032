package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

/** I11, I12: no order is left in Redis's lists, and Redis has the same stock and quota as MySQL. */
public final class StoresAgree implements Guarantee {

  @Override
  public boolean holdsForAShard() {
    return true;
  }

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    assertThat(sale.outboxed()).as("orders left in the outbox").isZero();
    assertThat(sale.inPrivateQueues()).as("orders left in private queues").isZero();
    assertThat(sale.redisStock())
        .as("stock of SKU %d in Redis", sale.skuId())
        .isEqualTo(sale.mysqlStock());
    assertThat(QuotaHeld.withoutZeros(sale.redisQuota()))
        .as("quota of SKU %d in Redis", sale.skuId())
        .isEqualTo(QuotaHeld.withoutZeros(sale.mysqlQuota()));
  }
}
