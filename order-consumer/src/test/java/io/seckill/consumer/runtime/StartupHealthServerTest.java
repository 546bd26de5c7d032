package io.seckill.consumer.runtime;

import static io.seckill.testing.Eventually.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.testing.InternalApi;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;

class StartupHealthServerTest {

  @AutoClose private final StartupHealthServer server = StartupHealthServer.open(anyPort());
  private final int port = server.server().getAddress().getPort();

  @Test
  void isAliveWhileRequestsDoNotEndAndClosesThem() throws IOException {
    String begun = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n";
    List<Socket> stalled = new ArrayList<>();
    try {
      for (int i = 0; i < 4; i++) {
        Socket one = new Socket(InetAddress.getLoopbackAddress(), port);
        stalled.add(one);
        one.setSoTimeout((int) SOON.toMillis());
        one.getOutputStream().write(begun.getBytes(StandardCharsets.US_ASCII));
      }

      InternalApi prober = new InternalApi("http://127.0.0.1:" + port, "none");
      assertThat(prober.get("/actuator/health/liveness").status()).isEqualTo(200);
      for (Socket one : stalled) {
        assertThat(one.getInputStream().readAllBytes()).as("all of it").hasSizeLessThan(1_000);
      }
    } finally {
      for (Socket one : stalled) {
        one.close();
      }
    }
  }

  private static ServerProperties anyPort() {
    ServerProperties properties = new ServerProperties();
    properties.setPort(0);
    properties.setAddress(InetAddress.getLoopbackAddress());
    return properties;
  }
}
