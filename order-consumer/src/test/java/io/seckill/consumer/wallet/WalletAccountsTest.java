package io.seckill.consumer.wallet;

import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.support.web.DemoMode;
import java.net.InetAddress;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.mock.env.MockEnvironment;

class WalletAccountsTest {

  private static void start(String profile, boolean demo) {
    MockEnvironment environment = new MockEnvironment();
    environment.setActiveProfiles(profile);
    ServerProperties server = new ServerProperties();
    server.setAddress(InetAddress.getLoopbackAddress());
    DataSource none = new DriverManagerDataSource();
    var unused =
        new WalletAccounts(
            new JdbcTemplate(none),
            new Wallets(none, new SimpleMeterRegistry()),
            new WalletProperties("USD"),
            new DemoMode(demo, false),
            environment,
            server);
  }

  @ParameterizedTest
  @ValueSource(strings = {"prod", "production"})
  void givesNoMoneyAwayUnderAProductionProfile(String profile) {
    assertThatThrownBy(() -> start(profile, true))
        .hasMessageContaining("seckill.demo.enabled gives money to everybody");
    assertThatNoException().isThrownBy(() -> start(profile, false));
  }

  @Test
  void givesMoneyUnderOtherProfiles() {
    assertThatNoException().isThrownBy(() -> start("demo", true));
  }
}
