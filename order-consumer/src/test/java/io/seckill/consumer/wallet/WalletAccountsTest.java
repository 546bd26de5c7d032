package io.seckill.consumer.wallet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.support.web.DemoMode;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.mock.env.MockEnvironment;

/** Demo money, and the search of a statement. */
class WalletAccountsTest {

  private static WalletAccounts start(String profile, boolean demo) {
    return start(profile, demo, InetAddress.getLoopbackAddress());
  }

  private static WalletAccounts start(String profile, boolean demo, InetAddress address) {
    MockEnvironment environment = new MockEnvironment();
    environment.setActiveProfiles(profile);
    ServerProperties server = new ServerProperties();
    server.setAddress(address);
    DataSource none = new DriverManagerDataSource();
    return new WalletAccounts(
        new JdbcTemplate(none),
        new Wallets(none, new ConnectionShare(1), new SimpleMeterRegistry()),
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
  void givesNoMoneyAwayWhereOtherMachinesReachIt() throws UnknownHostException {
    InetAddress everywhere = InetAddress.getByName("0.0.0.0");

    assertThatThrownBy(() -> start("demo", true, everywhere))
        .hasMessageContaining("set server.address=127.0.0.1");
  }

  /** A gift would need the database, which does not exist. */
  @Test
  void givesNoMoneyAwayWithoutDemoMode() {
    WalletAccounts accounts = start("demo", false);

    assertThat(accounts.begin(List.of(7L))).isFalse();
  }

  @Test
  void givesMoneyUnderOtherProfiles() {
    assertThatNoException().isThrownBy(() -> start("demo", true));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 0",
    "1, 1",
    "2, 1",
    "7, 3",
    "7, 7",
    "1000000, 0",
    "1000000, 999999",
    "9223372036854775807, 9223372036854775807",
    "9223372036854775807, 12"
  })
  void findsTheLastNumberByFewReads(long most, long last) {
    AtomicInteger reads = new AtomicInteger();

    long found =
        WalletAccounts.last(
            most,
            seq -> {
              reads.incrementAndGet();
              assertThat(seq).isBetween(1L, most);
              return seq <= last;
            });

    assertThat(found).isEqualTo(last);
    assertThat(reads.get()).isLessThanOrEqualTo(64 - Long.numberOfLeadingZeros(most));
  }
}
