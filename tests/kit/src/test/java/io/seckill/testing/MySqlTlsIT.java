package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.testing.TestAuthority.ServerCertificate;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With the URL of docs/configuration.md, only a verified MySQL server receives the password. */
@Tag("proof")
@ChildProcessesOnly
class MySqlTlsIT {

  private static final String STORE_PASSWORD = "changeit";

  @TempDir private static Path directory;

  private static TestAuthority ours;
  private static TestAuthority another;
  @AutoClose private static MySqlServer server;
  private static MySqlDatabase database;

  @BeforeAll
  static void start() {
    ours = TestAuthority.create(directory, "ours");
    another = TestAuthority.create(directory, "another");
    ServerCertificate certificate = ours.issueFor("IP:127.0.0.1");
    server =
        MySqlServer.start(
            "ssl-cert=" + certificate.certificate(),
            "ssl-key=" + certificate.key(),
            "ssl-ca=" + ours.certificate());
    database = server.newDatabase();
  }

  @Test
  void talksToAServerOfATrustedAuthority() throws SQLException {
    try (Connection connection = connect("127.0.0.1", server.port(), ours);
        Statement statement = connection.createStatement();
        ResultSet cipher = statement.executeQuery("SHOW STATUS LIKE 'Ssl_cipher'")) {
      assertThat(cipher.next()).isTrue();
      assertThat(cipher.getString("Value")).startsWith("TLS_");
    }
  }

  @Test
  void refusesAServerOfAnotherAuthority() {
    assertThatThrownBy(() -> connect("127.0.0.1", server.port(), another))
        .hasStackTraceContaining("path");
  }

  /** The certificate names the IP address, not the host name. */
  @Test
  void refusesTheCertificateOfAnotherHost() {
    assertThatThrownBy(() -> connect("localhost", server.port(), ours))
        .hasStackTraceContaining("localhost");
  }

  @Test
  void doesNotFallBackToPlainText() {
    MySqlServer plain = TestServers.mysql();

    assertThatThrownBy(() -> connect("127.0.0.1", plain.port(), ours))
        .hasStackTraceContaining("SSL");
  }

  private static Connection connect(String host, int port, TestAuthority authority)
      throws SQLException {
    String tls =
        "sslMode=VERIFY_IDENTITY&trustCertificateKeyStoreType=PKCS12&trustCertificateKeyStoreUrl=file:"
            + authority.trustStore(STORE_PASSWORD)
            + "&trustCertificateKeyStorePassword="
            + STORE_PASSWORD;
    String url = MySqlServer.jdbcUrl(host + ":" + port, database.name());
    return DriverManager.getConnection(
        url.replace("sslMode=DISABLED", tls), database.username(), database.password());
  }
}
