package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

/** I11, I12: nothing is left on the way, and Redis counts stock and quota as MySQL does. */
public final class StoresAgree implements Guarantee {

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
