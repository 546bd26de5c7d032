package io.seckill.gateway.shards;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.shards.ShardLine.Demand;
import io.seckill.gateway.shards.ShardLine.Ended;
import io.seckill.gateway.shards.WaitingPurchase.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShardLineTest {

  private static final long SHARD = 4_503_599_627_386_501L;

  private final ShardLine line = new ShardLine();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // quantities | stock | elsewhere | outcomes in the order of the purchases; - waits on
        "1           | 0     | 5         | -",
        "1           | 0     | -1        | -",
        "1           | 0     | 0         | SOLD_OUT",
        "1 2 1       | 0     | 0         | SOLD_OUT SOLD_OUT SOLD_OUT",
        "1           | 1     | -1        | SEND_AGAIN",
        "1 1 1       | 2     | 5         | SEND_AGAIN SEND_AGAIN -",
        "1 1         | 1     | 0         | SEND_AGAIN -",
        "3 1         | 1     | 2         | - SEND_AGAIN",
        "3 1         | 1     | 1         | TOO_FEW_LEFT SEND_AGAIN",
        "3           | 0     | 3         | -",
        "3           | 2     | 0         | TOO_FEW_LEFT",
        "3           | 2     | -1        | -",
        "2 3 1       | 3     | 0         | SEND_AGAIN - SEND_AGAIN",
      })
  void aLookDecidesWhatItProves(String quantities, long stock, long elsewhere, String outcomes) {
    List<WaitingPurchase> purchases = new ArrayList<>();
    for (String quantity : quantities.split(" ", -1)) {
      purchases.add(purchase(Integer.parseInt(quantity), purchases.size()));
    }
    purchases.forEach(one -> assertThat(line.add(one, 0)).isTrue());
    assertThat(line.beginLook(0)).isNotNull();

    List<Ended> ended = line.endLook(new ShardStock(stock, elsewhere));

    assertThat(purchases.stream().map(one -> outcome(ended, one)).collect(Collectors.joining(" ")))
        .isEqualTo(outcomes);
    assertThat(line.size()).isEqualTo(purchases.size() - ended.size());
  }

  @Test
  void aLookWithoutAnAnswerDecidesNothing() {
    line.add(purchase(1, 0), 0);
    line.beginLook(0);

    assertThat(line.endLook(null)).isEmpty();
    assertThat(line.size()).isOne();
  }

  @Test
  void oneLookIsUnderWayAtATimeAndTheNextBegins25MillisecondsLater() {
    assertThat(line.beginLook(ms(0))).as("nobody waits").isNull();
    line.add(purchase(3, ms(0)), 0);
    line.add(purchase(1, ms(5)), 0);

    assertThat(line.beginLook(ms(10))).isEqualTo(new Demand(4, Duration.ofMillis(10)));
    assertThat(line.beginLook(ms(60))).as("under way").isNull();
    line.endLook(null);
    assertThat(line.beginLook(ms(34))).as("too soon").isNull();
    assertThat(line.beginLook(ms(35))).isEqualTo(new Demand(4, Duration.ofMillis(35)));
  }

  @Test
  void isIdleWhenNobodyWaitsAndTheNextLookIsDue() {
    assertThat(line.isIdle(ms(0))).isTrue();
    line.add(purchase(1, ms(0)), ms(0));
    assertThat(line.isIdle(ms(0))).as("one waits").isFalse();
    line.beginLook(ms(0));
    line.removeAll();
    assertThat(line.isIdle(ms(60))).as("a look is under way").isFalse();
    line.endLook(null);
    assertThat(line.isIdle(ms(24))).as("a look would be too soon").isFalse();
    assertThat(line.isIdle(ms(25))).isTrue();
  }

  @Test
  void nobodyWaitsLongerThan300Milliseconds() {
    WaitingPurchase first = purchase(1, ms(0));
    WaitingPurchase second = purchase(1, ms(100));
    line.add(first, 0);
    line.add(second, 0);

    assertThat(line.add(purchase(1, ms(0)), ms(276))).as("sent again in vain").isFalse();
    assertThat(line.removeOverdue(ms(275))).isEmpty();
    assertThat(line.removeOverdue(ms(276))).containsExactly(new Ended(first, Outcome.BUSY));
    assertThat(line.removeAll()).containsExactly(new Ended(second, Outcome.BUSY));
    assertThat(line.size()).isZero();
  }

  @Test
  void aPurchaseThatWasSentAgainInVainComesFirst() {
    WaitingPurchase early = purchase(1, ms(0));
    WaitingPurchase late = purchase(1, ms(50));
    line.add(late, 0);
    line.add(early, 0);
    line.beginLook(ms(60));

    assertThat(line.endLook(new ShardStock(1, 9)))
        .containsExactly(new Ended(early, Outcome.SEND_AGAIN));
  }

  @Test
  void theNumberOfPurchasesIsBounded() {
    for (int i = 0; i < ShardLine.MOST_WAITING; i++) {
      assertThat(line.add(purchase(1, ms(i)), 0)).isTrue();
    }

    assertThat(line.add(purchase(1, ms(0)), 0)).isFalse();
  }

  private static long ms(long ms) {
    return Duration.ofMillis(ms).toNanos();
  }

  private static WaitingPurchase purchase(int quantity, long sinceNanos) {
    return new WaitingPurchase(SHARD, quantity, sinceNanos, (outcome, askedNanos) -> {});
  }

  private static String outcome(List<Ended> ended, WaitingPurchase purchase) {
    return ended.stream()
        .filter(one -> one.purchase().equals(purchase))
        .map(one -> one.outcome().name())
        .findFirst()
        .orElse("-");
  }
}
