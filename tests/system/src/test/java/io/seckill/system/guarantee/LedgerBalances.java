package io.seckill.system.guarantee;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.shop.AdminClient;
import io.seckill.system.shop.Answer;
import tools.jackson.databind.JsonNode;

/**
 * The conservation equation: the ledger that the pipeline shows balances and agrees with the
 * stores. Queries one gateway's admin port, so the services must run.
 */
public final class LedgerBalances implements Guarantee {

  private final AdminClient admin;

  public LedgerBalances(AdminClient admin) {
    this.admin = admin;
  }

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    eventually("the ledger of SKU " + sale.skuId() + " to balance")
        .untilAsserted(() -> check(sale));
  }

  private void check(SaleAtRest sale) {
    Answer answer = admin.ledger(sale.skuId());
    assertThat(answer.status()).as("%s", answer).isEqualTo(200);
    JsonNode ledger = answer.json();
    boolean strong = sale.offer().isStrong();
    assertThat(ledger.path("balanced").asBoolean()).as("balanced: %s", ledger).isTrue();
    assertThat(ledger.path("unbalancedSince").isNull()).as("%s", ledger).isTrue();
    assertThat(units(ledger, "stock"))
        .as("%s", ledger)
        .isEqualTo(strong ? sale.mysqlStock() : sale.redisStock());
    assertThat(units(ledger, "confirmed") + units(ledger, "paid"))
        .as("%s", ledger)
        .isEqualTo(sale.ownedUnits());
    assertThat(units(ledger, "outboxAndPrivateQueues") + units(ledger, "broker"))
        .as("units in flight: %s", ledger)
        .isZero();
    assertThat(ledger.at("/orders/admitted").asLong())
        .as("%s", ledger)
        .isEqualTo(strong ? sale.orders().size() : sale.admitted().size());
  }

  private static long units(JsonNode ledger, String term) {
    return ledger.at("/units/" + term).asLong();
  }
}
