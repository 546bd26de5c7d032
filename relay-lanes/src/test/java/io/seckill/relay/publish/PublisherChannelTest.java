package io.seckill.relay.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.testing.Eventually;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PublisherChannelTest {

  private static final Duration CONFIRM_TIMEOUT = Duration.ofMillis(50);

  /** A blocked connection gets no confirms; all of them come once the alarm is over. */
  @Test
  void expectsNoConfirmWhileAnAlarmLastsAndForTheWholeTimeoutAfterIt() throws Exception {
    DeafBroker broker = new DeafBroker();
    PublisherChannel link =
        new BrokerConnector(
                broker,
                new LinkSettings("relay-service", false, 16, CONFIRM_TIMEOUT),
                new RelayMeters(new SimpleMeterRegistry()))
            .open("test");
    link.publish(List.of(OutboundOrder.of(new byte[] {'{', '}'}, 0)));

    await()
        .during(CONFIRM_TIMEOUT.multipliedBy(2))
        .atMost(Eventually.SOON)
        .untilAsserted(link::check);

    long since = System.nanoTime();
    broker.endAlarm();
    try {
      link.check();
    } catch (BrokerFailureException e) {
      assertThat(System.nanoTime() - since).isGreaterThan(CONFIRM_TIMEOUT.toNanos());
    }
  }
}
