package io.seckill.common.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.net.SocketFactory;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BrokerAddressesTest {

  private static final List<String> THREE =
      List.of(
          "amqp://relay:secret@127.0.0.1:1/seckill",
          "amqp://relay:secret@127.0.0.1:2/seckill",
          "amqp://relay:secret@127.0.0.1:3/seckill");

  private final List<Integer> tried = new ArrayList<>();

  @Test
  void anAttemptTriesEveryAddressOnce() {
    ConnectionFactory broker = broker(THREE);
    for (int attempt = 0; attempt < 20; attempt++) {
      tried.clear();
      fail(broker, "lane");
      assertThat(tried).containsExactlyInAnyOrder(1, 2, 3);
    }
  }

  @Test
  void theOrderOfTheAddressesChanges() {
    ConnectionFactory broker = broker(THREE);
    Set<List<Integer>> orders = new HashSet<>();
    for (int attempt = 0; attempt < 200; attempt++) {
      tried.clear();
      fail(broker, "lane " + attempt);
      orders.add(List.copyOf(tried));
    }
    assertThat(orders).hasSize(6);
  }

  @Test
  void noAddressIsTriedTwiceInARow() {
    ConnectionFactory broker = broker(THREE);
    for (int attempt = 0; attempt < 100; attempt++) {
      fail(broker.clone(), "lane");
    }
    for (int i = 1; i < tried.size(); i++) {
      assertThat(tried.get(i)).isNotEqualTo(tried.get(i - 1));
    }
  }

  /** Else a lane would try the lost node first because another lane has tried the others. */
  @Test
  void connectionsOfOtherNamesChangeNothing() {
    ConnectionFactory broker = broker(THREE);
    for (int attempt = 0; attempt < 100; attempt++) {
      fail(broker, "lane 1");
      int last = tried.get(tried.size() - 1);
      fail(broker, "lane 2");
      tried.clear();
      fail(broker, "lane 1");
      assertThat(tried.get(0)).isNotEqualTo(last);
    }
  }

  @Test
  void theOnlyAddressIsTriedAgainAndAgain() {
    ConnectionFactory broker = broker(List.of(THREE.get(0), THREE.get(0)));
    fail(broker, "lane");
    fail(broker, "lane");
    assertThat(tried).containsExactly(1, 1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "amqps://relay:secret@b/seckill",
        "amqp://other:secret@b/seckill",
        "amqp://relay:secret2@b/seckill",
        "amqp://relay:secret@b/other",
        "amqp://relay:secret@b/seckill?heartbeat=1",
        "amqp://relay:secret@under_score/seckill",
        "amqp://relay:secret@b:0/seckill",
        "amqp://relay:secret@b:65536/seckill",
        "amqp://relay:secret @b/seckill",
        "amqp:///seckill",
        "secret@b/seckill",
        "",
      })
  void refusesAddressesThatDifferInMoreThanHostAndPort(String second) {
    List<String> urls = List.of("amqp://relay:secret@a/seckill", second);
    assertThatThrownBy(() -> new BrokerAddresses(urls, null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("seckill.broker.urls")
        .satisfies(refusal -> assertThat(refusal).hasNoCause())
        .message()
        .doesNotContain("secret");
  }

  @ParameterizedTest
  @ValueSource(strings = {"amqp://relay:secret:secret@a/seckill", "amqp://relay:secret@a/b/c"})
  void refusesWhatTheClientCannotRead(String url) {
    assertThatThrownBy(() -> new BrokerAddresses(List.of(url), null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("seckill.broker.urls")
        .extracting(Throwable::toString)
        .asString()
        .doesNotContain("secret");
  }

  @Test
  void everyWaitIsBoundedAndNothingIsRecovered() {
    ConnectionFactory broker = new BrokerAddresses(THREE, null);

    assertThat(
            List.of(
                broker.getConnectionTimeout(),
                broker.getHandshakeTimeout(),
                broker.getChannelRpcTimeout()))
        .as("ms for a connection, a login, an answer")
        .containsExactly(2_000, 5_000, 5_000);
    assertThat(broker.isAutomaticRecoveryEnabled()).isFalse();
    assertThat(broker.isTopologyRecoveryEnabled()).isFalse();
  }

  @Test
  void checksTheHostOfABrokerWithTls() throws IOException {
    ConnectionFactory broker = new BrokerAddresses(List.of("amqps://relay:secret@a/seckill"), null);
    try (SSLSocket socket = (SSLSocket) SSLSocketFactory.getDefault().createSocket()) {
      broker.getSocketConfigurator().configure(socket);

      assertThat(socket.getSSLParameters().getEndpointIdentificationAlgorithm()).isEqualTo("HTTPS");
    }
  }

  private static void fail(ConnectionFactory broker, String name) {
    assertThatThrownBy(() -> broker.newConnection(name)).isInstanceOf(ConnectException.class);
  }

  private ConnectionFactory broker(List<String> urls) {
    ConnectionFactory broker = new BrokerAddresses(urls, null);
    broker.setAutomaticRecoveryEnabled(false);
    broker.setSocketFactory(new Refusing());
    return broker;
  }

  /** Refuses every connection and notes its port. */
  private final class Refusing extends SocketFactory {

    @Override
    public Socket createSocket() {
      return new Socket() {
        @Override
        public void connect(SocketAddress to, int timeout) throws IOException {
          tried.add(((InetSocketAddress) to).getPort());
          throw new ConnectException("refused");
        }
      };
    }

    @Override
    public Socket createSocket(String host, int port) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort) {
      throw new UnsupportedOperationException();
    }
  }
}
