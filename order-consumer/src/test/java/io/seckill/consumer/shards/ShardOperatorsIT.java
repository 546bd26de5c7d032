package io.seckill.consumer.shards;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Gauge;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import tools.jackson.databind.JsonNode;

/** Operators see and steer the SKU, not its shards. */
@ExtendWith(TestServers.class)
class ShardOperatorsIT extends SkuInShards {

  private static final String OF_A_SKU = "/internal/v1/skus/{sku}";

  /** Every call that names a SKU is about all its shards, and shows them as one. */
  @Test
  void everyCallOfAnOperatorIsAboutTheWholeSku() {
    String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    String product = product(403).replace("2026-01-01T00:00:00Z", now);
    long shard = Shards.id(sku, 2);

    assertWhole(call("PUT", "", product), 403);
    assertWhole(call("POST", "/preheat", ""), 403);
    assertWhole(call("POST", "/open", ""), 403);
    assertWhole(call("GET", "", ""), 403);
    assertWhole(call("PUT", "", product.replace("2036-01-01", "2036-01-02")), 403);
    assertWhole(call("POST", "/state", "{\"state\":\"PAUSED\"}"), 403);
    assertWhole(call("POST", "/resume", ""), 403);
    assertThat(call("POST", "/stock", "{\"delta\":7,\"reason\":\"test\"}").number("stock"))
        .isEqualTo(410);
    eventually() // what does not divide by four stays; the mover looks once a second
        .until(() -> Long.parseLong(consumer.product(sku, "stock")) < 4);
    awaitMoves();
    eventually() // the ledger that is shown may be half a second old
        .until(
            () -> call("GET", "/ledger", "").body().path("units").path("stock").asLong(),
            units -> units == 410);
    assertThat(call("POST", "/release-reserve", "").code()).isEqualTo("REFUSED");
    try (RunLock other = lockOfReconciliation(shard)) {
      Answer reconciled = call("POST", "/reconciliation", "{\"dryRun\":false}");
      assertThat(other.isHeld()).isTrue();
      assertThat(reconciled.number("skuId")).isEqualTo(sku);
      assertThat(outcomes(reconciled)).containsExactly("CLEAN", "CLEAN", "UNPROVEN", "CLEAN");
      assertThat(reconciled.text("outcome")).isEqualTo("UNPROVEN");
    }
    assertThat(
            call("GET", "/reconciliation", "").body().path("reconciliations").findValues("shard"))
        .extracting(JsonNode::asInt)
        .containsExactlyInAnyOrder(0, 1, 3);

    consumer.update(
        "UPDATE products SET stock = stock + 2, settled = 5, last_seq = 5 WHERE sku_id = ?", shard);
    assertThat(call("GET", "", "").number("settled")).isEqualTo(5);
    assertAudit(call("POST", "/audit", "").body());
    String path = "/internal/v1/audits?limit=1&after=" + (sku - 1);
    assertAudit(api.get(path).body().path("audits").get(0));
    assertThat(api.get(path.replace("limit=1", "limit=80")).text())
        .as("in the list only as a part of its SKU")
        .contains("\"skuId\":" + sku)
        .containsOnlyOnce("\"skuId\":" + shard);
    consumer.update(
        "UPDATE products SET stock = stock - 2, settled = 0, last_seq = 0 WHERE sku_id = ?", shard);
    assertThat(call("POST", "/audit", "").body().path("differences").size()).isZero();

    eventually()
        .until(
            () -> {
              consumer.sweep("ledgerRefresh");
              Gauge stock = units(sku);
              return stock != null && stock.value() == 410;
            });
    assertThat(units(shard)).as("the metrics of a shard").isNull();
    assertThat(call("POST", "/archive", "").code()).isEqualTo("NOT_AT_REST");
    state("CLOSED");
    assertThat(call("POST", "/archive", "").text("phase"))
        .as("as far as the shards, which are still in Redis")
        .isEqualTo("REDIS");
    assertThat(called).as("the calls that there are").isEqualTo(callsOfOperators());
  }

  private static Set<String> callsOfOperators() {
    Set<String> calls = new HashSet<>();
    for (RequestMappingHandlerMapping mapping :
        consumer.beans(RequestMappingHandlerMapping.class)) {
      for (RequestMappingInfo info : mapping.getHandlerMethods().keySet()) {
        for (String path : info.getPatternValues()) {
          if (path.startsWith(OF_A_SKU) && !path.endsWith("/lost-admissions")) { // of gateways
            info.getMethodsCondition()
                .getMethods()
                .forEach(method -> calls.add(method + " " + path.substring(OF_A_SKU.length())));
          }
        }
      }
    }
    return calls;
  }

  private void assertWhole(Answer product, long stock) {
    assertThat(product.number("skuId")).as(product.text()).isEqualTo(sku);
    assertThat(product.number("stock")).as(product.text()).isEqualTo(stock);
    assertThat(product.number("initialStock")).as(product.text()).isEqualTo(403);
  }

  private void assertAudit(JsonNode audit) {
    assertThat(audit.path("skuId").asLong()).as(audit.toString()).isEqualTo(sku);
    assertThat(audit.path("units").asLong()).isEqualTo(410);
    assertThat(audit.path("stock").asLong()).isEqualTo(412);
    JsonNode shard = audit.path("shards").get(2);
    long units = shard.path("units").asLong();
    assertThat(shard.path("stock").asLong()).isEqualTo(units + 2);
    assertThat(audit.path("differences").get(0).asString())
        .startsWith("shard 2: stock is %d; %d units less 0 sold".formatted(units + 2, units));
    assertThat(audit.path("shards").size()).isEqualTo(4);
  }

  private static RunLock lockOfReconciliation(long shard) {
    return RunLock.take(
            consumer.bean(ConnectionPools.class).reconciliation(),
            "reconcile-" + shard,
            Duration.ofMinutes(1))
        .orElseThrow();
  }
}
