package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.system.ShardedSale;
import io.seckill.system.agent.inside.PointAction;
import io.seckill.system.shop.Answer;
import io.seckill.testing.TestServers;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults while the units of a SKU move between its shards. */
@Tag("proof")
@ExtendWith({TestServers.class, FaultLabExtension.class})
class ShardFaultsIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(281_001);

  private static final int SHARDS = 4;
  private static final int STOCK = 400;
  private static final int SHOPPERS = 500;

  private final FaultLab lab;
  private final long sku = NEXT_SKU.getAndIncrement();
  private final ShardedSale sale = new ShardedSale(sku, SHARDS, STOCK);

  ShardFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  /** All shoppers are in one shard, so that units have to move. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        Failpoints.MOVE_BEGUN,
        Failpoints.MOVE_TAKEN,
        Failpoints.MOVE_POOLED,
        Failpoints.MOVE_GIVEN,
        Failpoints.MOVE_NOT_MARKED
      })
  void aMoverIsKilledAtAPointOfAMoveAndSoIsItsSuccessor(String point) throws SQLException {
    sale.open(lab.admin());
    lab.consumers().forEach(consumer -> consumer.agent().arm(point, PointAction.HALT, 1));
    List<CompletableFuture<Answer>> answers =
        sale.buy(lab.shops(), sale.users(SHOPPERS, shard -> shard == 2));
    lab.consumers().forEach(consumer -> consumer.awaitDeathAt(point));

    lab.consumers().forEach(ServiceInstance::restart);

    assertSoldOut(answers);
  }

  /** The mover sleeps for a time in which another one leads, and wakes in the middle of a move. */
  @ParameterizedTest
  @ValueSource(strings = {Failpoints.MOVE_TAKEN, Failpoints.MOVE_GIVEN})
  void aFrozenMoverWakesInTheMiddleOfAMove(String point) throws SQLException {
    sale.open(lab.admin());
    lab.consumers().forEach(consumer -> consumer.agent().arm(point, PointAction.PAUSE, 1));
    List<CompletableFuture<Answer>> answers =
        sale.buy(lab.shops(), sale.users(SHOPPERS, shard -> shard == 2));
    Signals.await(
        "a mover in the middle of a move",
        () -> lab.consumers().stream().anyMatch(one -> one.agent().hasReached(point)));
    ServiceInstance frozen =
        lab.consumers().stream().filter(one -> one.agent().hasReached(point)).findFirst().get();
    lab.consumers().stream()
        .filter(one -> one != frozen)
        .forEach(one -> one.agent().release(point));
    Map<String, Integer> codes = ShardedSale.codes(answers); // the other one sells all
    frozen.agent().release(point);

    assertThat(codes).isEqualTo(Map.of("202", STOCK, "SOLD_OUT", SHOPPERS - STOCK));
    sale.judgeSoldOut(lab.admin(), lab.sales());
  }

  /** Units of every shard are sold out, then some return: to whom it was refused may buy again. */
  @Test
  void unitsThatReturnAreSoldToShoppersOfOtherShards() throws SQLException {
    sale.open(lab.admin());
    List<Long> users = sale.users(SHOPPERS, shard -> true);
    List<CompletableFuture<Answer>> answers = sale.buy(lab.shops(), users);
    assertSoldOut(answers);

    List<Long> buyers = new ArrayList<>();
    for (int i = 0; i < users.size() && buyers.size() < 8; i++) {
      Answer answer = answers.get(i).orTimeout(1, TimeUnit.MINUTES).join();
      if (answer.status() == 202 && Shards.of(users.get(i), SHARDS) == 0) {
        buyers.add(users.get(i));
        assertThat(lab.shops().get(0).cancel(users.get(i), answer.text("orderId")).status())
            .isEqualTo(200);
      }
    }
    Signals.await(
        "the units to be back",
        () -> !"0".equals(lab.redis().get(RedisKeys.stock(Shards.id(sku, 0)))));
    List<Long> later = sale.users(SHOPPERS + 100, shard -> shard == 3);
    Signals.await( // a proof counts for a second
        "a shopper of another shard to get one",
        () ->
            lab.shops().get(0).buy(later.get(later.size() - 1), sku, 1, "after-a-return").status()
                == 202);
  }

  /**
   * Units are added and withdrawn, and the sale is paused and resumed, while units move and sell.
   */
  @Test
  void stockChangesAndPausesWhileUnitsMove() throws SQLException {
    sale.open(lab.admin());
    long units = STOCK;
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (int round = 0; round < 5; round++) {
      int first = round * 60;
      answers.addAll(
          sale.buy(
              lab.shops(), sale.users(first + 60, shard -> shard == 2).subList(first, first + 60)));
      for (long delta : new long[] {30, -40}) {
        Answer change = lab.admin().changeStock(sku, delta, "change" + delta + "-" + round);
        units += change.text("state").equals("DONE") ? delta : 0;
      }
      assertThat(lab.admin().pause(sku).status()).isEqualTo(200);
      assertThat(lab.admin().resume(sku).status()).isEqualTo(200);
    }
    Map<String, Integer> codes = ShardedSale.codes(answers);

    long sold = sale.judge(lab.admin(), lab.sales(), units);
    assertThat(sold).as("units sold; answers %s", codes).isEqualTo(codes.get("202").longValue());
    assertThat(codes.keySet()).isSubsetOf("202", "PAUSED", "SOLD_OUT");
  }

  private void assertSoldOut(List<CompletableFuture<Answer>> answers) throws SQLException {
    assertThat(ShardedSale.codes(answers))
        .isEqualTo(Map.of("202", STOCK, "SOLD_OUT", SHOPPERS - STOCK));
    sale.judgeSoldOut(lab.admin(), lab.sales());
  }
}
