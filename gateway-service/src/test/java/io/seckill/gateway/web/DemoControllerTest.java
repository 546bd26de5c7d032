package io.seckill.gateway.web;

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
}
