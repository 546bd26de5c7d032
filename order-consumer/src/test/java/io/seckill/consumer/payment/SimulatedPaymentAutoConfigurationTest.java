package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.seckill.support.web.DemoMode;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.mock.env.MockEnvironment;

class SimulatedPaymentAutoConfigurationTest {

  @ParameterizedTest
  @CsvSource({
    "true, dev, 127.0.0.1, , ",
    "false, dev, 127.0.0.1, , no payment provider is installed",
    "true, prod, 127.0.0.1, , not simulated under a production profile",
    "true, production, 127.0.0.1, , not simulated under a production profile",
    "true, dev, 0.0.0.0, , server.address=127.0.0.1",
    "true, dev, 127.0.0.1, installed, no payment provider is installed",
  })
  void simulatesNoPaymentsForRealShoppers(
      boolean demo,
      String profile,
      String address,
      @Nullable String provider,
      @Nullable String refusal)
      throws UnknownHostException {
    MockEnvironment environment = new MockEnvironment();
    environment.setActiveProfiles(profile);
    if (provider != null) {
      environment.setProperty("seckill.payment.provider", provider);
    }
    ServerProperties server = new ServerProperties();
    server.setAddress(InetAddress.getByName(address));

    Throwable refused =
        catchThrowable(
            () ->
                new SimulatedPaymentAutoConfiguration(
                    new DemoMode(demo, false), environment, server));

    if (refusal == null) {
      assertThat(refused).isNull();
    } else {
      assertThat(refused).hasMessageContaining(refusal);
    }
  }
}
