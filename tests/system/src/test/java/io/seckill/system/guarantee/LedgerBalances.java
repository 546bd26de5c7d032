package io.seckill.system.guarantee;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.seckill.system.shop.AdminClient;
import io.seckill.system.shop.Answer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The conservation equation: the ledger that the pipeline shows balances and agrees with the
 * stores. Reads it at one gateway's admin port, or judges what was read there.
 */
public final class LedgerBalances implements Guarantee {

  private final @Nullable AdminClient admin;
  private final Map<Long, Answer> ledgers = new ConcurrentHashMap<>();

  public LedgerBalances(AdminClient admin) {
    this.admin = admin;
  }

  /**
   * @param ledgers the ledger of each SKU, as a gateway has answered it
   */
  @JsonCreator
  LedgerBalances(@JsonProperty("ledgers") Map<Long, Answer> ledgers) {
    this.admin = null;
    this.ledgers.putAll(ledgers);
  }

  /** The latest answer for each SKU. */
  @JsonProperty("ledgers")
  Map<Long, Answer> ledgers() {
    return ledgers;
  }

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    AdminClient gateway = admin;
    if (gateway != null) {
      awaitBalance(gateway, sale);
    }
    check(sale);
  }

  private void awaitBalance(AdminClient gateway, SaleAtRest sale) {
    try {
      eventually("the ledger of SKU " + sale.skuId() + " to balance")
          .untilAsserted(
              () -> {
                ledgers.put(sale.skuId(), gateway.ledger(sale.skuId()));
                check(sale);
              });
    } catch (ConditionTimeoutException e) {
      return; // what the latest ledger violates says more
    }
  }

  private void check(SaleAtRest sale) {
    Answer answer = ledgers.get(sale.skuId());
    assertThat(answer).as("answered ledger of SKU %d", sale.skuId()).isNotNull();
    assertThat(answer.status()).as("status of %s", answer).isEqualTo(200);
    JsonNode ledger = answer.json();
    ledger
        .path("shards")
        .forEach(
            shard ->
                assertThat(shard.path("balanced").asBoolean()).as("balanced: %s", shard).isTrue());
    assertThat(ledger.path("shards").size())
        .as("shards in %s", ledger)
        .isEqualTo(sale.offer().shards() == 1 ? 0 : sale.offer().shards());
    boolean strong = sale.offer().isStrong();
    assertThat(ledger.path("balanced").asBoolean()).as("balanced: %s", ledger).isTrue();
    assertThat(ledger.path("unbalancedSince").isNull()).as("unbalanced since: %s", ledger).isTrue();
    assertThat(units(ledger, "stock"))
        .as("units on sale: %s", ledger)
        .isEqualTo(strong ? sale.mysqlStock() : sale.redisStock());
    assertThat(units(ledger, "confirmed") + units(ledger, "paid"))
        .as("units owned: %s", ledger)
        .isEqualTo(sale.ownedUnits());
    assertThat(units(ledger, "outboxAndPrivateQueues") + units(ledger, "broker"))
        .as("units in flight: %s", ledger)
        .isZero();
    assertThat(ledger.at("/orders/admitted").asLong())
        .as("orders admitted: %s", ledger)
        .isEqualTo(strong ? sale.orders().size() : sale.admitted().size());
  }

  private static long units(JsonNode ledger, String term) {
    return ledger.at("/units/" + term).asLong();
  }
}
