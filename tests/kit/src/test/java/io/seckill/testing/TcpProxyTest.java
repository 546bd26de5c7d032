package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TcpProxyTest {

  private EchoServer server;
  private TcpProxy proxy;

  @BeforeEach
  void openTheLink() throws IOException {
    server = new EchoServer();
    proxy = TcpProxy.to("127.0.0.1", server.port());
  }

  @AfterEach
  void closeTheLink() throws IOException {
    proxy.close();
    server.close();
  }

  @Test
  void carriesBytesBothWays() throws IOException {
    try (Socket client = connect()) {
      assertThat(ask(client, "hello")).isEqualTo("hello");
    }
    eventually().until(() -> proxy.openConnections() == 0);
  }

  @Test
  void deliversTheAnswerToAClientThatHasFinishedSending() throws IOException {
    try (Socket client = connect()) {
      send(client, "last words");
      client.shutdownOutput();

      assertThat(client.getInputStream().readAllBytes()).asString().isEqualTo("last words");
    }
  }

  @Test
  void losesRequestsWhileItDropsTowardsTheServer() throws IOException {
    try (Socket client = connect()) {
      assertThat(ask(client, "before")).isEqualTo("before");
      proxy.dropToServer(true);
      send(client, "lost");

      assertThatThrownBy(() -> receive(client, 200)).isInstanceOf(SocketTimeoutException.class);
      assertThat(server.received()).isEqualTo("before");
    }
  }

  @Test
  void losesAnswersButNotRequestsWhileItDropsTowardsTheClient() throws IOException {
    try (Socket client = connect()) {
      proxy.dropToClient(true);
      send(client, "carried out");

      eventually().until(() -> server.received().equals("carried out"));
      assertThatThrownBy(() -> receive(client, 200)).isInstanceOf(SocketTimeoutException.class);
    }
  }

  @Test
  void resetsConnectionsThatLostBytesAndOnlyThemWhenTheDropEnds() throws IOException {
    try (Socket victim = connect();
        Socket idle = connect()) {
      assertThat(ask(idle, "open")).isEqualTo("open");
      proxy.dropToClient(true);
      send(victim, "lost");
      eventually().until(() -> server.received().endsWith("lost"));
      eventually().until(() -> proxy.droppedBytes() == "lost".length());
      proxy.dropToClient(false);

      assertThatThrownBy(() -> receive(victim, 5_000)).isInstanceOf(SocketException.class);
      assertThat(ask(idle, "still open")).isEqualTo("still open");
    }
  }

  @Test
  void resetsOpenConnectionsAndAcceptsNewOnes() throws IOException {
    try (Socket before = connect()) {
      assertThat(ask(before, "hello")).isEqualTo("hello");
      proxy.reset();

      assertThatThrownBy(() -> receive(before, 5_000)).isInstanceOf(SocketException.class);
    }
    try (Socket after = connect()) {
      assertThat(ask(after, "hello")).isEqualTo("hello");
    }
  }

  @Test
  void resetsEveryNewConnectionWhileItIsCut() throws IOException {
    proxy.cut();

    assertThatThrownBy(
            () -> {
              try (Socket client = connect()) {
                receive(client, 5_000);
              }
            })
        .isInstanceOf(SocketException.class);
    proxy.heal();
    try (Socket client = connect()) {
      assertThat(ask(client, "healed")).isEqualTo("healed");
    }
  }

  @Test
  void holdsBackEveryPieceInBothDirections() throws IOException {
    proxy.delay(Duration.ofMillis(100));
    try (Socket client = connect()) {
      long start = System.nanoTime();
      assertThat(ask(client, "slow")).isEqualTo("slow");

      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isGreaterThanOrEqualTo(Duration.ofMillis(200));
    }
  }

  @Test
  void endsAConnectionThatIsHeldBackForAnHour() throws IOException {
    proxy.delay(Duration.ofHours(1));
    try (Socket client = connect()) {
      send(client, "never");
      eventually().until(() -> proxy.openConnections() == 1);
      proxy.close();

      assertThatThrownBy(() -> receive(client, 5_000)).isInstanceOf(SocketException.class);
    }
  }

  /** The port stays bound, so that no other program can listen on it during the test. */
  @Test
  void resetsTheClientWhenNothingListensAtTheServer() throws IOException {
    try (Socket silent = new Socket()) {
      silent.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      try (TcpProxy toNobody = TcpProxy.to("127.0.0.1", silent.getLocalPort())) {
        assertThatThrownBy(
                () -> {
                  try (Socket client = new Socket(toNobody.host(), toNobody.port())) {
                    receive(client, 5_000);
                  }
                })
            .isInstanceOf(SocketException.class);
      }
    }
  }

  @Test
  void leavesNoThreadAndNoPortBehindWhenClosed() throws IOException {
    try (Socket client = connect()) {
      assertThat(ask(client, "hello")).isEqualTo("hello");
      proxy.close();

      assertThatThrownBy(this::connect).isInstanceOf(SocketException.class);
      eventually().until(() -> threadsOf(proxy) == 0);
    }
  }

  private static long threadsOf(TcpProxy proxy) {
    String prefix = "tcp-proxy-" + proxy.port();
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(prefix))
        .count();
  }

  private Socket connect() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), proxy.port());
  }

  private static String ask(Socket client, String text) throws IOException {
    send(client, text);
    return receive(client, 5_000);
  }

  private static void send(Socket client, String text) throws IOException {
    client.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String receive(Socket client, int timeoutMillis) throws IOException {
    client.setSoTimeout(timeoutMillis);
    byte[] piece = new byte[1024];
    int length = client.getInputStream().read(piece);
    if (length < 0) {
      throw new SocketException("closed");
    }
    return new String(piece, 0, length, StandardCharsets.UTF_8);
  }
}
