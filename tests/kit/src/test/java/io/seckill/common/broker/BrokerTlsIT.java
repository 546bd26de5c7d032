package io.seckill.common.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.EchoServer;
import io.seckill.testing.Ports;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.TestAuthority;
import io.seckill.testing.TestAuthority.ServerCertificate;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * With {@code amqps} the client sends nothing but the TLS handshake until the broker has proved
 * that it is the requested host.
 */
@Tag("proof")
@ChildProcessesOnly
class BrokerTlsIT {

  @TempDir private static Path directory;

  private static TestAuthority ours;
  private static TestAuthority another;
  @AutoClose private static RabbitServer server;
  private static int tlsPort;

  @BeforeAll
  static void start() {
    ours = TestAuthority.create(directory, "ours");
    another = TestAuthority.create(directory, "another");
    ServerCertificate certificate = ours.issueFor("IP:127.0.0.1");
    tlsPort = Ports.free();
    server = RabbitServer.start(certificate.forRabbit(tlsPort));
  }

  @Test
  void talksToABrokerOfATrustedAuthority() throws Exception {
    try (Connection connection = connect("127.0.0.1", tlsPort, ours.certificate())) {
      assertThat(connection.getServerProperties()).containsKey("product");
    }
  }

  @Test
  void refusesABrokerOfAnotherAuthority() {
    assertThatThrownBy(() -> connect("127.0.0.1", tlsPort, another.certificate()))
        .hasRootCauseMessage("unable to find valid certification path to requested target");
  }

  @Test
  void trustsNobodyWeMadeWhenOnlyThePlatformIsTrusted() {
    assertThatThrownBy(() -> connect("127.0.0.1", tlsPort, null))
        .hasRootCauseMessage("unable to find valid certification path to requested target");
  }

  /** The certificate names the IP address, not the host name. */
  @Test
  void refusesTheCertificateOfAnotherHost() {
    assertThatThrownBy(() -> connect("localhost", tlsPort, ours.certificate()))
        .hasStackTraceContaining("No name matching localhost found");
  }

  @Test
  void tellsNoPasswordToAServerWithoutTls() throws Exception {
    try (EchoServer plain = new EchoServer()) {
      assertThatThrownBy(() -> connect("127.0.0.1", plain.port(), ours.certificate()))
          .isInstanceOf(SSLException.class);

      assertThat(plain.received()).isNotEmpty().doesNotContain("AMQP", server.password());
    }
  }

  private static Connection connect(String host, int port, @Nullable Path caFile) throws Exception {
    String url = "amqps://%s:%s@%s:%d".formatted(server.username(), server.password(), host, port);
    ConnectionFactory factory = new BrokerAddresses(List.of(url), caFile);
    factory.setAutomaticRecoveryEnabled(false);
    factory.setClientProperties(Map.of());
    return factory.newConnection("test");
  }
}
