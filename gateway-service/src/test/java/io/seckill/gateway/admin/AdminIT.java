package io.seckill.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.testing.TestTokens;
import io.seckill.testing.LoggedLines;
import io.seckill.testing.RawConnection;
import io.seckill.testing.TestServers;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class AdminIT {

  private static final GatewayStage stage = GatewayStage.shared();
  private static final TestGateway gateway = stage.gateway();

  @Test
  void createsAProductThenEditsItAndShowsIt() {
    long sku = stage.newSku();
    String body = GatewayStage.product(PurchasePolicy.LIMITED, 5, 100);

    GatewayAnswer created = gateway.operate("PUT", GatewayStage.admin(sku), body);
    GatewayAnswer edited =
        gateway.operate("PUT", GatewayStage.admin(sku), body.replace("A thing", "Ein Ding 东西 🎁"));

    assertThat(created.status()).as(created.toString()).isEqualTo(201);
    assertThat(created.text("state")).isEqualTo("NEW");
    assertThat(created.json().path("epoch").longValue()).isZero();
    assertThat(edited.status()).isEqualTo(200);
    assertThat(gateway.adminGet(GatewayStage.admin(sku)).text("name")).isEqualTo("Ein Ding 东西 🎁");
  }

  @Test
  void sellsAStrongSaleFromTheMomentTheOperatorIsAnswered() {
    for (int i = 0; i < 4; i++) { // the gateway reads the products once a second
      long sku = stage.onStrongSale();

      GatewayAnswer bought = gateway.buy(stage.newUser(), sku, 1, "key-at-the-opening");

      assertThat(bought.status()).as(bought.toString()).isEqualTo(201);
    }
  }

  @Test
  void wantsAnIdempotencyKeyForAStockChange() {
    GatewayAnswer none =
        gateway.operate("POST", GatewayStage.admin(7) + "/stock", "{\"delta\":1,\"reason\":\"x\"}");
    GatewayAnswer bad = stock(7, "short", "{\"delta\":1,\"reason\":\"x\"}");
    GatewayAnswer tooLong = stock(7, "k".repeat(15_000), "{\"delta\":1,\"reason\":\"x\"}");

    assertThat(none.text("field")).isEqualTo("Idempotency-Key");
    assertThat(bad.text("field")).isEqualTo("Idempotency-Key");
    assertThat(tooLong.text("field")).as(tooLong.toString()).isEqualTo("Idempotency-Key");
  }

  /** Each quotation mark is three characters for order-consumer. */
  @Test
  void readsAListWithTheLongestQuery() {
    String query = "?limit=1&x=" + "\"".repeat(4_000);

    try (RawConnection operator = new RawConnection(gateway.adminPort())) {
      operator.send(
          "GET /admin/v1/dead-letters"
              + query
              + " HTTP/1.1\r\nHost: x\r\nAuthorization: "
              + TestGateway.operator()
              + "\r\n\r\n");
      assertThat(operator.answer()).startsWith("HTTP/1.1 200 ");
    }
  }

  @Test
  void refusesAStockChangeWithTwoIdempotencyKeys() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);

    GatewayAnswer two =
        gateway.send(
            stockChange(sku, "key-of-the-first", "{\"delta\":1,\"reason\":\"x\"}")
                .header("Idempotency-Key", "key-of-the-second"));

    assertThat(two.status()).as(two.toString()).isEqualTo(400);
    assertThat(two.text("field")).isEqualTo("Idempotency-Key");
    assertThat(stage.number("SELECT stock FROM products WHERE sku_id = ?", sku)).isEqualTo(100);
    assertThat(stage.redis().get(RedisKeys.stock(sku))).isEqualTo("100");
  }

  @Test
  void leavesOneAuditLineForEveryWriteWithItsOutcome() {
    long sku = stage.newSku();
    List<String> lines =
        auditLinesOf(
            () -> {
              gateway.operate(
                  "PUT",
                  GatewayStage.admin(sku),
                  GatewayStage.product(PurchasePolicy.LIMITED, 5, 100));
              gateway.operate("POST", GatewayStage.admin(sku) + "/preheat", null);
              gateway.operate("POST", GatewayStage.admin(sku) + "/pause", null);
              gateway.adminGet(GatewayStage.admin(sku));
            });

    assertThat(lines).hasSize(3);
    assertThat(lines.get(0))
        .startsWith("operator=olga action=put sku=" + sku + " done correlation=");
    assertThat(lines.get(1)).startsWith("operator=olga action=preheat sku=" + sku + " done");
    assertThat(lines.get(2))
        .startsWith("operator=olga action=pause sku=" + sku + " refused=ILLEGAL_TRANSITION");
  }

  @Test
  void letsNobodyForgeAnAuditLine() { // no CR/LF in log lines
    String evil =
        TestTokens.signed(
            "{\"sub\":\"eve\\r\\noperator=olga action=close\",\"scope\":\"seckill.admin\","
                + "\"exp\":4102444800}");
    long sku = stage.newSku();
    List<String> lines =
        auditLinesOf(
            () ->
                gateway.send(
                    gateway
                        .admin(GatewayStage.admin(sku) + "/preheat")
                        .header("Authorization", "Bearer " + evil)
                        .POST(BodyPublishers.noBody())));

    assertThat(lines).hasSize(1);
    assertThat(lines.get(0))
        .startsWith("operator=eve??operator=olga?action=close action=preheat")
        .doesNotContain("\n")
        .doesNotContain("\r");
  }

  private static GatewayAnswer stock(long sku, String key, String body) {
    return gateway.send(stockChange(sku, key, body));
  }

  private static HttpRequest.Builder stockChange(long sku, String key, String body) {
    return gateway
        .admin(GatewayStage.admin(sku) + "/stock")
        .header("Authorization", TestGateway.operator())
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", key)
        .POST(BodyPublishers.ofString(body));
  }

  private static List<String> auditLinesOf(Runnable calls) {
    try (LoggedLines lines = LoggedLines.of("audit")) {
      calls.run();
      return lines.texts();
    }
  }
}
