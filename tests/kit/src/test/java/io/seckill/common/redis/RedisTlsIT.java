package io.seckill.common.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.redis.RedisSettings.Mode;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.EchoServer;
import io.seckill.testing.Ports;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestAuthority;
import io.seckill.testing.TestAuthority.ServerCertificate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * With {@code rediss} the client sends nothing but the TLS handshake until the server has proved
 * that it is the requested host.
 */
@Tag("proof")
@ChildProcessesOnly
class RedisTlsIT {

  @TempDir private static Path directory;

  private static TestAuthority ours;
  private static TestAuthority another;

  @BeforeAll
  static void createAuthorities() {
    ours = TestAuthority.create(directory, "ours");
    another = TestAuthority.create(directory, "another");
  }

  @Test
  void talksToAServerOfATrustedAuthority() {
    int port = Ports.free();
    try (RedisServer server = start(port, ours.issueFor("IP:127.0.0.1"));
        UnifiedJedis redis = open(port, ours.certificate())) {
      redis.set("order", "admitted");

      assertThat(redis.get("order")).isEqualTo("admitted");
      assertThat(server.isRunning()).isTrue();
    }
  }

  @Test
  void refusesAServerOfAnotherAuthority() {
    int port = Ports.free();
    try (RedisServer server = start(port, another.issueFor("IP:127.0.0.1"))) {
      refuses(port, ours.certificate());
      assertThat(server.isRunning()).isTrue();
    }
  }

  @Test
  void trustsNobodyWeMadeWhenOnlyThePlatformIsTrusted() {
    int port = Ports.free();
    try (RedisServer server = start(port, ours.issueFor("IP:127.0.0.1"))) {
      refuses(port, null);
      assertThat(server.isRunning()).isTrue();
    }
  }

  @Test
  void refusesTheCertificateOfAnotherHost() {
    int port = Ports.free();
    try (RedisServer server = start(port, ours.issueFor("DNS:elsewhere.example"))) {
      refuses(port, ours.certificate());
      assertThat(server.isRunning()).isTrue();
    }
  }

  @Test
  void tellsNoPasswordToAServerWithoutTls() throws IOException {
    try (EchoServer plain = new EchoServer()) {
      refuses(plain.port(), ours.certificate());

      assertThat(plain.received()).isNotEmpty().doesNotContain("s3cret", "AUTH", "HELLO", "PING");
    }
  }

  @Test
  void refusesAFileWithoutCertificates() throws IOException {
    Path empty = Files.createFile(directory.resolve("empty.pem"));

    assertThatThrownBy(() -> settings("rediss://h:1", empty)).hasMessageContaining("empty.pem");
    assertThatThrownBy(() -> settings("rediss://h:1", directory.resolve("absent.pem")))
        .hasMessageContaining("absent.pem");
    assertThatThrownBy(() -> settings("redis://h:1", ours.certificate()))
        .hasMessageContaining("seckill.redis.ca-file");
  }

  private static void refuses(int port, @Nullable Path caFile) {
    try (UnifiedJedis redis = open(port, caFile)) {
      assertThatThrownBy(redis::ping)
          .isInstanceOf(JedisConnectionException.class)
          .hasRootCauseInstanceOf(Exception.class)
          .satisfies(
              e -> assertThat(e).hasStackTraceContaining(SSLException.class.getPackageName()));
    }
  }

  private static UnifiedJedis open(int port, @Nullable Path caFile) {
    return RedisClients.open(settings("rediss://default:s3cret@127.0.0.1:" + port, caFile), "test");
  }

  private static RedisSettings settings(String url, @Nullable Path caFile) {
    return new RedisSettings(Mode.SINGLE, url, List.of(), null, null, null, caFile);
  }

  private static RedisServer start(int tlsPort, ServerCertificate certificate) {
    return RedisServer.start(certificate.forRedis(tlsPort, "user default on >s3cret ~* &* +@all"));
  }
}
