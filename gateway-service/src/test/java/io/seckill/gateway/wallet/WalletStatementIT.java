package io.seckill.gateway.wallet;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.Bounded;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.net.URI;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class WalletStatementIT {

  private static final GatewayStage stage = GatewayStage.shared();

  /** Statements read up to all connections for wallets, and leave pages in memory. */
  @Test
  void refusesASecondStatementOfAShopperAndTooManyOfAll() throws Exception {
    URI consumer = URI.create(stage.consumer().url());
    try (TcpProxy proxy = TcpProxy.to(consumer.getHost(), consumer.getPort());
        TestGateway own =
            TestGateway.start(
                stage.redisDatabase(),
                stage.mysqlDatabase(),
                "http://127.0.0.1:" + proxy.port(),
                "seckill.consumer.timeout=20s")) {
      proxy.dropToClient(true);
      for (int i = 1; i < ShopperWalletController.MAX_STATEMENTS; i++) {
        long user = stage.newUser();
        assertThat(refused(statement(own, user), statement(own, user)))
            .isEqualTo("TOO_MANY_REQUESTS");
      }
      assertThat(refused(statement(own, stage.newUser()), statement(own, stage.newUser())))
          .isEqualTo("BUSY");

      proxy.heal();

      eventually().until(() -> Bounded.get(statement(own, stage.newUser())).status() == 200);
    }
  }

  /** The code of the one that is answered while order-consumer is silent. */
  private static String refused(
      CompletableFuture<GatewayAnswer> one, CompletableFuture<GatewayAnswer> other) {
    return Bounded.get(one.applyToEither(other, GatewayAnswer::code));
  }

  private static CompletableFuture<GatewayAnswer> statement(TestGateway gateway, long user) {
    return gateway
        .http()
        .sendAsync(
            gateway
                .shop("/api/v1/wallet/entries?from=2026-01-01&to=2026-12-31")
                .header("Accept", "text/csv")
                .header("Authorization", TestGateway.shopper(user))
                .build(),
            BodyHandlers.ofString())
        .thenApply(GatewayAnswer::new);
  }
}
