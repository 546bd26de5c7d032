package io.seckill.consumer.wallet;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.testing.Races;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.consumer.wallet.WalletBatch.EntryKey;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.dao.DataAccessException;

/** Operations at random of two processes, while connections die in the middle of transactions. */
@Tag("proof")
@ExtendWith(TestServers.class)
class WalletKillsIT {

  private static final int CLIENTS = 8;
  private static final int CALLS = 400;
  private static final int USERS = 20;
  private static final int PER_KILL = 20;

  private final Map<WalletOperation, WalletOutcome> outcomes = new ConcurrentHashMap<>();
  private final AtomicInteger unknown = new AtomicInteger();
  private final AtomicInteger working = new AtomicInteger(CLIENTS);

  @Test
  void everyOperationIsDoneOnceOrNotAtAll() {
    long seed = ThreadLocalRandom.current().nextLong();
    try (TestConsumer consumer = TestConsumer.start(Map.of("seckill.intake.enabled", "false"))) {
      List<Wallets> processes =
          List.of(
              consumer.bean(Wallets.class),
              new Wallets(
                  consumer.bean(HikariDataSource.class),
                  consumer.bean(ConnectionShare.class),
                  new SimpleMeterRegistry()));
      List<Runnable> runners = new ArrayList<>();
      IntStream.range(0, CLIENTS)
          .<Runnable>mapToObj(
              client -> () -> call(processes.get(client % 2), client, new Random(seed + client)))
          .forEach(runners::add);
      runners.add(() -> kill(consumer));

      Races.race(runners);

      assertSound(consumer, "seed " + seed);
    }
  }

  private void call(Wallets wallets, int client, Random random) {
    List<WalletOperation> charges = new ArrayList<>();
    for (int call = 0; call < CALLS; call++) {
      String key = "client-%d-%d-".formatted(client, call);
      List<WalletOperation> operations = new ArrayList<>();
      for (int i = 0; i <= random.nextInt(8); i++) {
        operations.add(
            operation(random, key + i, charges, 1_000_000L * client + 10L * call + i + 1));
      }
      List<WalletOutcome> last;
      do {
        last = wallets.execute(operations);
        unknown.addAndGet(count(last, WalletCode.WALLET_UNAVAILABLE));
      } while (count(last, WalletCode.WALLET_UNAVAILABLE) + count(last, WalletCode.BUSY) > 0);
      for (int i = 0; i < operations.size(); i++) {
        outcomes.put(operations.get(i), last.get(i));
      }
    }
    working.decrementAndGet();
  }

  private static WalletOperation operation(
      Random random, String key, List<WalletOperation> charges, long chargeId) {
    long user = 1L + random.nextInt(USERS);
    long cents = 1L + random.nextInt(100);
    int kind = random.nextInt(10);
    if (kind < 3) {
      return new WalletOperation(user, WalletKind.RECHARGE, key, cents, null, null);
    } else if (kind < 4) {
      return new WalletOperation(user, WalletKind.ADJUST, key, -cents, null, null);
    } else if (kind < 7 || charges.isEmpty()) {
      charges.add(new WalletOperation(user, WalletKind.CHARGE, key, cents, chargeId, null));
      return charges.get(charges.size() - 1);
    }
    WalletOperation charge = charges.get(random.nextInt(charges.size()));
    return new WalletOperation(
        charge.userId(), WalletKind.REFUND, key, cents, charge.chargeId(), null);
  }

  private static int count(List<WalletOutcome> outcomes, WalletCode code) {
    return (int) outcomes.stream().filter(outcome -> outcome.code() == code).count();
  }

  /**
   * Connections in the middle of a transaction on wallets, one per {@link #PER_KILL} outcomes:
   * kills that follow each other as fast as they can may let no transaction end.
   */
  private void kill(TestConsumer consumer) {
    for (int kills = 1; working.get() > 0; kills++) {
      int known = kills * PER_KILL;
      eventually()
          .pollInterval(Duration.ofMillis(1))
          .until(() -> outcomes.size() >= known || working.get() == 0);
      try {
        consumer
            .sql()
            .sql(
                "SELECT id FROM information_schema.processlist WHERE db = DATABASE()"
                    + " AND id <> CONNECTION_ID() AND (info LIKE '%wallet%' OR info = 'COMMIT')")
            .query(Long.class)
            .list()
            .stream()
            .limit(1)
            .forEach(id -> consumer.update("KILL " + id));
      } catch (DataAccessException e) {
        // it is gone
      }
    }
  }

  private void assertSound(TestConsumer consumer, String seed) {
    Map<EntryKey, WalletOutcome> booked = new HashMap<>();
    consumer
        .sql()
        .sql("SELECT user_id, request_id, seq, balance_after FROM wallet_entry")
        .query(
            row -> {
              booked.put(
                  new EntryKey(row.getLong(1), row.getString(2)),
                  new WalletOutcome(WalletCode.DONE, row.getLong(3), row.getLong(4)));
            });
    outcomes.forEach(
        (operation, outcome) -> {
          WalletOutcome entry = booked.remove(EntryKey.of(operation));
          assertThat(outcome.seq())
              .as("%s %s %s", seed, operation, outcome)
              .isEqualTo(entry == null ? null : entry.seq());
          assertThat(outcome.balanceAfterCents())
              .isEqualTo(entry == null ? null : entry.balanceAfterCents());
        });
    assertThat(booked).as("entries of no operation").isEmpty();
    assertThat(consumer.bean(WalletCheck.class).checkWhole().detail()).as(seed).isEmpty();
    assertThat(unknown.get()).as("outcomes that a kill made unknown").isPositive();
    assertThat(outcomes.values())
        .extracting(WalletOutcome::code)
        .contains(WalletCode.DONE, WalletCode.INSUFFICIENT_FUNDS, WalletCode.REFUND_EXCEEDS_CHARGE);
  }
}
