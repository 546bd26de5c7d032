package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.testing.InternalApi;
import io.seckill.testing.RawConnection;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;

class StartupHealthServerTest {

  @AutoClose private final StartupHealthServer server = StartupHealthServer.open(anyPort());
  private final int port = server.server().getAddress().getPort();

  @Test
  void isAliveWhileRequestsDoNotEndAndClosesThem() {
    String begun = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n";
    List<RawConnection> stalled = new ArrayList<>();
    try {
      for (int i = 0; i < 4; i++) {
        RawConnection one = new RawConnection(port);
        stalled.add(one);
        one.send(begun);
      }

      InternalApi prober = new InternalApi("http://127.0.0.1:" + port, "none");
      assertThat(prober.get("/actuator/health/liveness").status()).isEqualTo(200);
      for (RawConnection one : stalled) {
        assertThat(one.untilClosed()).as("all of it").hasSizeLessThan(1_000);
      }
    } finally {
      stalled.forEach(RawConnection::close);
    }
  }

  private static ServerProperties anyPort() {
    ServerProperties properties = new ServerProperties();
    properties.setPort(0);
    properties.setAddress(InetAddress.getLoopbackAddress());
    return properties;
  }
}
