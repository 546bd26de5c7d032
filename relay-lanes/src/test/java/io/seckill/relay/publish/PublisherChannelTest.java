package io.seckill.relay.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.testing.Eventually;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PublisherChannelTest {

  private static final Duration CONFIRM_TIMEOUT = Duration.ofMillis(50);
  private static final LinkSettings SETTINGS =
      new LinkSettings("relay-service", false, 16, CONFIRM_TIMEOUT);

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final RelayMeters meters = new RelayMeters(registry);

  /** A blocked connection gets no confirms; all of them come once the alarm is over. */
  @Test
  void expectsNoConfirmWhileAnAlarmLastsAndForTheWholeTimeoutAfterIt() throws Exception {
    DeafBroker broker = new DeafBroker();
    PublisherChannel link = new BrokerConnector(broker, SETTINGS, meters).open("test");
    link.publish(List.of(OutboundOrder.of(new byte[] {'{', '}'}, 0)));

    await()
        .during(CONFIRM_TIMEOUT.multipliedBy(2))
        .atMost(Eventually.SOON)
        .untilAsserted(link::check);
    assertThat(blockedSeconds()).isGreaterThan(0.05);

    long since = System.nanoTime();
    broker.endAlarm();
    try {
      link.check();
    } catch (BrokerFailureException e) {
      assertThat(System.nanoTime() - since).isGreaterThan(CONFIRM_TIMEOUT.toNanos());
    }
  }

  @Test
  void countsNoTimeAsBlockedAfterItWasClosed() throws Exception {
    new BrokerConnector(new DeafBroker(), SETTINGS, meters).open("test").close();
    double blocked = blockedSeconds();

    long since = System.nanoTime();
    while (System.nanoTime() - since < TimeUnit.MILLISECONDS.toNanos(1)) {
      Thread.onSpinWait();
    }

    assertThat(blockedSeconds()).isEqualTo(blocked);
  }

  private double blockedSeconds() {
    return registry.get("seckill.relay.blocked.seconds").functionCounter().count();
  }

  @Test
  void closesAConnectionOnWhichTheBrokerAllowsNoChannel() {
    List<String> calls = new ArrayList<>();
    Connection connection =
        (Connection)
            Proxy.newProxyInstance(
                Connection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, args) -> {
                  calls.add(method.getName());
                  return null;
                });

    assertThatThrownBy(() -> PublisherChannel.over(connection, new LinkSocket(), SETTINGS, meters))
        .isInstanceOf(IOException.class);

    assertThat(calls).containsExactly("createChannel", "abort");
  }
}
