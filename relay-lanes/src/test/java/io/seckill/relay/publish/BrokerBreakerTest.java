package io.seckill.relay.publish;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.testing.BreakerContract;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BrokerBreakerTest {

  private final ConnectionFactory factory = new ConnectionFactory();

  @Test
  void triesAgainWhateverTheTimeOfDay() {
    BreakerContract.triesAgainWhateverTheTimeOfDay(BrokerConnector.breakerConfig());
  }

  @Test
  void connectsNoLaneAfterLinksHaveBroken() {
    eventually() // on a slow machine the breaker may permit a trial before it is asked
        .untilAsserted(
            () -> {
              BrokerConnector broker = connector();
              for (int broken = 0; broken < 4; broken++) {
                broker.linkBroken(new BrokerFailureException("no confirm", null));
              }

              assertThatThrownBy(() -> broker.open("lane-0"))
                  .isInstanceOf(BrokerFailureException.class)
                  .hasMessage("the circuit breaker is open: no confirm");
            });
  }

  /** With TLS one of them checks the name of the host. */
  @Test
  void doesWithSocketsWhatTheFactoryDemands() {
    List<Socket> configured = new ArrayList<>();
    factory.setSocketConfigurator(configured::add);

    assertThatThrownBy(() -> connector().open("lane-0"))
        .isInstanceOf(BrokerFailureException.class)
        .hasMessageContaining("connecting failed");

    assertThat(configured).isNotEmpty();
  }

  /** Nobody listens there. */
  private BrokerConnector connector() {
    factory.setHost("127.0.0.1");
    factory.setPort(1);
    return new BrokerConnector(
        factory,
        new LinkSettings("test", false, 1, Duration.ofSeconds(1)),
        new RelayMeters(new SimpleMeterRegistry()));
  }
}
