package io.seckill.support.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DemoModeTest {

  @ParameterizedTest(name = "enabled {0}, exposed {1}, address {2}: starts {3}")
  @CsvSource({
    "false, false, ,              true",
    "false, false, 0.0.0.0,       true",
    "true,  false, 127.0.0.1,     true",
    "true,  false, 127.8.9.10,    true",
    "true,  false, ::1,           true",
    "true,  false, ,              false",
    "true,  false, 0.0.0.0,       false",
    "true,  false, ::,            false",
    "true,  false, 192.168.0.17,  false",
    "true,  false, 10.0.0.1,      false",
    "true,  true,  ,              true",
    "true,  true,  192.168.0.17,  true",
  })
  void startsBeyondLoopbackOnlyWhenToldTwice(
      boolean enabled, boolean exposed, @Nullable String address, boolean starts)
      throws UnknownHostException {
    DemoMode demo = new DemoMode(enabled, exposed);
    InetAddress listens = address == null ? null : InetAddress.getByName(address);

    Throwable refusal = catchThrowable(() -> demo.checkAddress(listens, "server.address"));

    if (starts) {
      assertThat(refusal).isNull();
    } else {
      assertThat(refusal)
          .hasMessageContaining("server.address=127.0.0.1")
          .hasMessageContaining("seckill.demo.exposed=true");
    }
  }
}
