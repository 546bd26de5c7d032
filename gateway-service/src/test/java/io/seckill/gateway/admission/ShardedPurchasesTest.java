package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.Partition;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.batching.RequestBatcherProperties;
import io.seckill.gateway.catalogue.TestProducts;
import io.seckill.gateway.shards.TestShardLines;
import io.seckill.gateway.testing.TestProductRow;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.support.contract.ProductRow;
import io.seckill.testing.Bounded;
import io.seckill.testing.CannedRedis;
import io.seckill.testing.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShardedPurchasesTest {

  private static final long SKU = 1_001;
  private static final long SHARD = Shards.id(SKU, 2);
  private static final RequestBatcherProperties BOUNDS =
      new RequestBatcherProperties(1, 1, 1, 1, Eventually.SOON, Eventually.SOON);

  /** No shard gives units during a fallback, and yet a no is true. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "SOLD_OUT, 1, 0, SOLD_OUT",
        "SOLD_OUT, 1, 1, BUSY",
        "SOLD_OUT, 3, 2, TOO_FEW_LEFT",
        "SOLD_OUT, 3, 3, BUSY",
        "SOLD_OUT, 1, -, BUSY",
        "TOO_FEW_LEFT, 3, 2, TOO_FEW_LEFT",
        "TOO_FEW_LEFT, 3, 4, BUSY",
        "QUOTA_EXCEEDED, 1, 9, QUOTA_EXCEEDED",
        "QUOTA_EXCEEDED, 1, 0, SOLD_OUT",
        "QUOTA_EXCEEDED, 1, -, QUOTA_EXCEEDED",
        "PAUSED, 1, 9, PAUSED",
      })
  void aShardInMySqlRefusesOnlyWhatNoShardHas(
      Refusal ofShard, int quantity, @Nullable Long stockOfAll, String outcome) {
    ProductRow sku = stockOfAll == null ? null : sku(stockOfAll);

    assertThat(ShardedPurchases.inMySql(ofShard, quantity, sku))
        .isEqualTo(outcome.equals("BUSY") ? Admission.Busy.BRIEFLY : Refusal.valueOf(outcome));
  }

  /** Units of a shard that cannot be reached do not come within a second. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        // shards that are not verified, quarantined, behind an open breaker
        "-, -, -, BRIEFLY",
        "0, -, -, WITHOUT_A_SHARD",
        "3, -, -, WITHOUT_A_SHARD",
        "-, 1, -, WITHOUT_A_SHARD",
        "-, -, 2, WITHOUT_A_SHARD",
        "0, 1, 2, WITHOUT_A_SHARD"
      })
  void aBusyAnswerSaysWhetherEveryShardCanBeReached(
      @Nullable Integer unverified,
      @Nullable Integer quarantined,
      @Nullable Integer open,
      Admission.Busy expected) {
    VerifiedServers servers = new VerifiedServers();
    for (int shard = 0; shard < 4; shard++) {
      if (!Integer.valueOf(shard).equals(unverified)) {
        servers.verified(Partition.ofSku(Shards.id(SKU, shard)), "id");
      }
    }
    long elsewhere = Shards.id(SKU + 1, 0);
    servers.quarantine(
        quarantined == null ? Set.of(elsewhere) : Set.of(elsewhere, Shards.id(SKU, quarantined)),
        1);

    assertThat(
            ShardedPurchases.busy(
                Shards.ids(SKU, 4),
                servers,
                partition -> open != null && partition == Partition.ofSku(Shards.id(SKU, open))))
        .isEqualTo(expected);
  }

  /** It then waits for no look at the shard. */
  @Test
  void aShardThatWasJustProvenEmptyRefusesAtOnce() {
    SoldOutShield shield = new SoldOutShield(Duration.ofDays(1));
    shield.raise(SHARD, System.nanoTime());
    List<Admission> answers = new ArrayList<>();

    new ShardedPurchases(null, null, shield, null, null, null)
        .untilProven(attempt(false), answers::add)
        .accept(Refusal.SOLD_OUT);

    assertThat(answers).containsExactly(Refusal.SOLD_OUT);
  }

  /** Another purchase proves that nothing is left, before its first call begins or during it. */
  @ParameterizedTest
  @CsvSource({
    // key of the shopper, proven before, replies to its calls
    "true,  true,  O,   SOLD_OUT",
    "true,  false, O F, SOLD_OUT",
    "true,  false, F O, TOO_FEW_LEFT",
    "false, true,  O,   SOLD_OUT",
    "false, false, O,   SOLD_OUT",
    "false, false, F,   TOO_FEW_LEFT"
  })
  void isSentAgainOnlyIfItsKeyMayHaveAnOrderSince(
      boolean keyFromShopper, boolean provenBefore, String replies, Refusal expected) {
    assertThat(answer(keyFromShopper, provenBefore, replies.split(" "))).isEqualTo(expected);
  }

  @Test
  void isAnsweredFromTheOrderThatItsKeyHasSince() {
    OrderId id = OrderId.of(1_790_000_000_000L, Partition.ofSku(SHARD), 1, 1);

    assertThat(answer(true, false, "O", "S|" + id + "|0|"))
        .isEqualTo(new Repeated(id, OrderStatus.QUEUED, 1));
  }

  /** One unit is left in its shard, and none in the others; exactly these calls are made. */
  private static Admission answer(boolean keyFromShopper, boolean provenBefore, String... replies) {
    SoldOutShield shield = new SoldOutShield(Duration.ofDays(1));
    Queue<String> left = new ConcurrentLinkedQueue<>(List.of(replies));
    CannedRedis redis =
        new CannedRedis(
            command -> {
              if (command.get(0).equals("INFO")) {
                return "master_replid:0a";
              }
              shield.raise(SHARD, System.nanoTime());
              return List.of(left.remove());
            });
    PurchaseAttempt attempt = attempt(keyFromShopper);
    CompletableFuture<Admission> answer = new CompletableFuture<>();
    try (TestShardLines shards = new TestShardLines(new CannedRedis(ask -> List.of(1L, 0L)));
        RequestBatcher<Purchase> admit =
            new RequestBatcher<>("admit", BOUNDS, false, new Calls(redis).executor())) {
      Consumer<Admission> outcomes =
          new ShardedPurchases(null, shards.lines(), shield, null, null, admit)
              .untilProven(attempt, answer::complete);
      if (provenBefore) {
        shield.raise(SHARD, System.nanoTime());
      }
      admit.submit(new Purchase(attempt, outcomes));
      Admission found = Bounded.get(answer);
      assertThat(left).isEmpty();
      return found;
    }
  }

  /** The units that it is sent for are gone each time it arrives; another one may be refused. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPurchaseThatIsSentAgainAndAgainIsAnsweredInTime(boolean anotherIsRefused) {
    CannedRedis redis = new CannedRedis(command -> List.of(1L, -1L)); // its shard has a unit
    SoldOutShield shield = new SoldOutShield(Duration.ofDays(1));
    long before = System.nanoTime();
    PurchaseAttempt attempt = attempt(true, 1);
    CompletableFuture<Admission> answer = new CompletableFuture<>();
    try (TestShardLines shards = new TestShardLines(redis);
        RequestBatcher<Purchase> admit =
            new RequestBatcher<>(
                "admit",
                BOUNDS,
                false,
                sent -> {
                  if (anotherIsRefused) {
                    shield.raise(SHARD, System.nanoTime());
                  }
                  sent.get(0).asked(before);
                  sent.get(0).answer(Refusal.SOLD_OUT);
                })) {
      new ShardedPurchases(
              TestProducts.read(false),
              shards.lines(),
              shield,
              new VerifiedServers(),
              RedisBreakers.of(redis, new SimpleMeterRegistry()),
              admit)
          .untilProven(attempt, answer::complete)
          .accept(Refusal.SOLD_OUT);

      assertThat(Bounded.get(answer)).isEqualTo(Admission.Busy.BRIEFLY);
    }
  }

  private static PurchaseAttempt attempt(boolean keyFromShopper) {
    return attempt(keyFromShopper, 2);
  }

  private static PurchaseAttempt attempt(boolean keyFromShopper, int quantity) {
    return new PurchaseAttempt(SHARD, 7, "key-00001", keyFromShopper, quantity, null);
  }

  private static ProductRow sku(long stock) {
    return TestProductRow.of(SKU).decides(Decider.MYSQL).stock(stock).row();
  }
}
