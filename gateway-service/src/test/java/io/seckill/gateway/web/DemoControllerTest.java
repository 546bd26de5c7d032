package io.seckill.gateway.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.seckill.support.web.DemoMode;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;

class DemoControllerTest {

  @ParameterizedTest
  @CsvSource({"0.0.0.0, 127.0.0.1, server.address", "127.0.0.1, 0.0.0.0, seckill.admin.address"})
  void isNotOpenToOtherMachinesInDemoMode(String shop, String admin, String property)
      throws UnknownHostException {
    ServerProperties server = new ServerProperties();
    server.setAddress(InetAddress.getByName(shop));

    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new DemoController(
                    null, new DemoMode(true, false), server, new AdminPortProperties(8_081, admin)))
        .withMessageContaining("set " + property + "=127.0.0.1");
  }

  /** A page on the web may give its own name any address, also one of this machine. */
  @ParameterizedTest
  @CsvSource({
    "localhost, true",
    "LocalHost:8080, true",
    "127.0.0.1:8081, true",
    "127.1.2.3, true",
    "[::1], true",
    "[::1]:8080, true",
    "evil.example, false",
    "evil.example:8080, false",
    "127.0.0.1.evil.example, false",
    "localhost.evil.example:8080, false",
    "'', false",
    ", false"
  })
  void issuesTokensToThoseWhoNameThisMachineUnlessItIsExposed(String host, boolean isThis) {
    assertThat(DemoController.issues(new DemoMode(true, false), host)).isEqualTo(isThis);
    assertThat(DemoController.issues(new DemoMode(true, true), host)).isTrue();
    assertThat(DemoController.issues(new DemoMode(false, true), host)).isFalse();
  }
}
