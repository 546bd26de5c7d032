package io.seckill.gateway.admission;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.admission.BrokerConfirms.RecentPublishes;
import io.seckill.gateway.batching.PendingRequest.Failure;
import io.seckill.gateway.fallback.TestPromises;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

class BrokerConfirmsTest {

  private static final OrderId ONE = OrderId.of(1_790_000_000_000L, 5, 1, 1);
  private static final OrderId OTHER = OrderId.of(1_790_000_000_000L, 5, 1, 2);
  private static final Duration LONG = Duration.ofMinutes(1);

  private final RecentPublishes orders = new RecentPublishes();
  private final BrokerConfirms confirms =
      new BrokerConfirms(TestPromises.withoutFallback(), orders);
  private final Map<Long, Admission> answers = new ConcurrentHashMap<>();

  @Test
  void answersEachPurchaseAfterTheConfirmOfItsOrder() throws InterruptedException {
    waits(1, ONE);
    waits(2, OTHER);
    Thread call = new Thread(() -> confirms.await(LONG));
    call.start();

    confirms.confirmed(OTHER);
    eventually().until(() -> answers.containsKey(2L));
    assertThat(answers).doesNotContainKey(1L);

    confirms.confirmed(ONE);
    call.join(60_000);
    assertThat(call.isAlive()).isFalse();
    assertThat(answers.get(1L)).isEqualTo(new Admitted(ONE, 1));
  }

  @Test
  void promisesNothingOnceAFallbackHasBegunBeforeTheConfirm() {
    TestPromises fallback = TestPromises.withFallback();
    BrokerConfirms waiting = new BrokerConfirms(fallback.promises(), orders);
    waiting.published(ONE);
    waiting.answerConfirmed(purchase(1), new Admitted(ONE, 1));

    fallback.begin();
    orders.confirmed(ONE);
    waiting.await(LONG);

    assertThat(answers.get(1L)).isEqualTo(Unknown.FALLBACK);
  }

  @Test
  void answersAllPurchasesOfAnOrderThatIsPublishedTwice() {
    waits(1, ONE);
    confirms.published(ONE);
    Repeated repeated = new Repeated(ONE, OrderStatus.QUEUED, 1);
    confirms.answerConfirmed(purchase(2), repeated);

    confirms.confirmed(ONE);
    confirms.confirmed(ONE);
    confirms.await(LONG);
    assertThat(answers).containsValues(new Admitted(ONE, 1), repeated);
  }

  @Test
  void answersARepeatWithThePublishThatIsUnderWay() throws InterruptedException {
    waits(1, ONE);
    BrokerConfirms repeat = new BrokerConfirms(TestPromises.withoutFallback(), orders);
    repeat.answerConfirmed(purchase(2), new Repeated(ONE, OrderStatus.QUEUED, 1));
    Thread call = new Thread(() -> repeat.await(LONG));
    call.start();
    assertThat(answers).isEmpty();

    orders.confirmed(ONE);
    confirms.await(LONG);
    call.join(60_000);
    assertThat(answers).containsOnlyKeys(1L, 2L).doesNotContainValue(Unknown.BROKER);

    BrokerConfirms later = new BrokerConfirms(TestPromises.withoutFallback(), orders);
    later.answerConfirmed(purchase(3), new Repeated(ONE, OrderStatus.QUEUED, 1));
    later.await(LONG);
    assertThat(answers.get(3L)).as("of a confirmed order").isInstanceOf(Repeated.class);
  }

  @Test
  void answersARepeatOfAConfirmedOrderThatIsPublishedAgainAtOnce() {
    waits(1, ONE);
    orders.confirmed(ONE);
    confirms.await(LONG);

    BrokerConfirms repeat = new BrokerConfirms(TestPromises.withoutFallback(), orders);
    repeat.published(ONE);
    Repeated repeated = new Repeated(ONE, OrderStatus.QUEUED, 1);
    repeat.answerConfirmed(purchase(2), repeated);
    repeat.await(Duration.ZERO);

    assertThat(answers.get(2L)).isEqualTo(repeated);
  }

  @Test
  void forgetsACallThatNoLongerWaits() {
    waits(1, ONE);
    confirms.await(Duration.ZERO);
    assertThat(answers.get(1L)).isEqualTo(Unknown.BROKER);

    orders.confirmed(ONE); // for nobody
    waits(2, ONE);
    confirms.await(Duration.ZERO);
    assertThat(answers.get(2L)).as("not by the earlier confirm").isEqualTo(Unknown.BROKER);
  }

  @Test
  void answersUnknownWithoutAConfirmInTimeAndWhereNobodyPublishes() {
    waits(1, ONE);
    confirms.answerConfirmed(purchase(2), new Admitted(OTHER, 1));
    assertThat(answers).containsOnly(Map.entry(2L, Unknown.BROKER));

    confirms.await(Duration.ZERO);
    assertThat(answers.get(1L)).isEqualTo(Unknown.BROKER);
  }

  @Test
  void saysThatTheBrokersAnswerIsMissingWhenTheBatchersTimeIsUp() {
    confirms.published(ONE);
    Purchase purchase = purchase(1);
    confirms.answerConfirmed(purchase, new Admitted(ONE, 1));

    purchase.fail(Failure.UNKNOWN);
    assertThat(answers.get(1L)).isEqualTo(Unknown.BROKER);
  }

  private void waits(long user, OrderId order) {
    confirms.published(order);
    confirms.answerConfirmed(purchase(user), new Admitted(order, 1));
  }

  private Purchase purchase(long user) {
    return new Purchase(
        new PurchaseAttempt(1_001, user, "key-0001", true, 1, null),
        outcome -> answers.put(user, outcome));
  }
}
