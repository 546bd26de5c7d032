package io.seckill.consumer.runtime;

import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.support.jdbc.PrimaryDriver;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.Ports;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** A server that accepts no writes, beside one that does. */
@ExtendWith(TestServers.class)
class StandbyServerIT {

  private static MySqlServer standby;
  private static MySqlDatabase database;

  private final int port = Ports.free();
  private final InternalApi api = new InternalApi("http://127.0.0.1:" + port, "");

  @BeforeAll
  static void start() {
    standby = MySqlServer.start();
    database = TestServers.mysql().newDatabase();
    standby.recreate(database);
  }

  @AfterAll
  static void stop() {
    standby.close();
  }

  @BeforeEach
  void acceptNoWrites() {
    standby.setReadOnly(true);
  }

  @Test
  void ofSeveralHostsTheOneThatAcceptsWritesIsUsed() throws SQLException {
    int primary = database.port();

    assertThat(portOf(database.jdbcUrlOf(standby.port(), primary))).isEqualTo(primary);
    assertThat(portOf(database.jdbcUrlOf(primary, standby.port()))).isEqualTo(primary);
    assertThat(portOf(database.jdbcUrlOf(Ports.free(), standby.port(), primary)))
        .isEqualTo(primary);
    assertThat(portOf(database.jdbcUrlOf(standby.port())))
        .as("the only host")
        .isEqualTo(standby.port());
  }

  @Test
  void theHostThatAcceptedWritesLastIsTriedFirst() throws Exception {
    PrimaryDriver driver = new PrimaryDriver();
    try (TcpProxy toStandby = TcpProxy.to(standby)) {
      String url = database.jdbcUrlOf(toStandby.port(), database.port());

      assertThat(portOf(driver, url)).isEqualTo(database.port());
      assertThat(portOf(driver, url)).isEqualTo(database.port());

      assertThat(toStandby.acceptedConnections()).isEqualTo(1);
    }
  }

  @Test
  void hostsThatAllRefuseWritesAreNoConnection() {
    assertThatThrownBy(() -> portOf(database.jdbcUrlOf(standby.port(), standby.port())))
        .isInstanceOf(SQLException.class)
        .hasMessageContaining("read-only")
        .extracting(e -> ((SQLException) e).getSQLState())
        .isEqualTo("08001");
  }

  @Test
  void aStandbyIsBehindFromTheCheckAtWhichItDidNotAnswer() {
    StandbyLag inStep = lag(new SimpleMeterRegistry(), database.port(), standby.port());
    inStep.round();
    inStep.round();
    assertThat(inStep.seconds()).as("both are empty").isZero();

    int nobody = Ports.free();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    StandbyLag lag = lag(meters, database.port(), nobody);
    lag.round();
    assertThat(lag.seconds()).as("from now on").isZero();
    eventually().until(again(lag), seconds -> seconds > 0);
    double before = lag.seconds();
    eventually().until(again(lag), seconds -> seconds > before);
    assertThat(meters.get("seckill.mysql.standby.lag").gauge().value()).isEqualTo(lag.seconds());

    StandbyLag alone = lag(new SimpleMeterRegistry(), nobody);
    alone.round();
    alone.round();
    assertThat(alone.seconds()).as("without a standby").isZero();
  }

  private static Callable<Double> again(StandbyLag lag) {
    return () -> {
      lag.round();
      return lag.seconds();
    };
  }

  private static StandbyLag lag(SimpleMeterRegistry meters, int... ports) {
    return new StandbyLag(
        database.jdbcUrlOf(ports), database.username(), database.password(), meters);
  }

  /** The migration itself is left to another process, and has not happened. */
  @Test
  void aStartWaitsForWritesAndSaysSo() throws Exception {
    FutureTask<Void> start = start(database.password());
    Thread thread = new Thread(start, "start");
    thread.start();
    eventually().ignoreExceptions().until(() -> api.get("/").status() == 503);
    assertThat(start.isDone()).isFalse();

    assertThat(api.get("/actuator/health/liveness").status()).isEqualTo(200);
    for (String health : new String[] {"/actuator/health", "/actuator/health/readiness"}) {
      Answer answer = api.get(health);
      assertThat(answer.status()).as(health).isEqualTo(503);
      assertThat(answer.body().at("/components/database/status").asString()).isEqualTo("DOWN");
    }
    Answer refused = api.get("/internal/v1/skus/1");
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.code()).isEqualTo("UNAVAILABLE");

    standby.setReadOnly(false);

    assertThatThrownBy(() -> start.get(SOON.toSeconds(), TimeUnit.SECONDS))
        .hasRootCauseInstanceOf(FlywayException.class)
        .hasStackTraceContaining("Validate failed");
    assertThatThrownBy(() -> api.get("/actuator/health"))
        .as("the port is free for the service")
        .isInstanceOf(UncheckedIOException.class);
  }

  @ParameterizedTest(name = "{0} {1}: {2}")
  @CsvSource({
    "0,    08S01, link broken",
    "0,    08001, cannot connect",
    "1040, 08004, too many connections",
    "1041, HY000, out of memory",
    "1129, HY000, host blocked after errors",
    "1135, HY000, no thread",
    "1203, 42000, max_user_connections",
    "1226, 42000, a limit of the user",
    "3032, HY000, offline mode (MySQL)",
    "0,    ,      an error of no class"
  })
  void aStartWaitsForTheEndOfWhatIsTemporary(int code, @Nullable String state, String what)
      throws Exception {
    AtomicReference<@Nullable SQLException> failure =
        new AtomicReference<>(new SQLException(what, state, code));

    assertWaitsUntil(start(failing(failure)), () -> failure.set(null));
  }

  @ParameterizedTest(name = "{0} {1}: {2}")
  @CsvSource({
    "1044, 42000, no right on the database",
    "1045, 28000, wrong password",
    "1049, 42000, no such database",
    "1130, HY000, not from this host",
    "1698, 28000, no password"
  })
  void aStartDoesNotWaitForAWrongSetting(int code, String state, String what) {
    FutureTask<Void> start =
        start(failing(new AtomicReference<>(new SQLException(what, state, code))));

    start.run();

    assertThatThrownBy(() -> start.get(SOON.toSeconds(), TimeUnit.SECONDS))
        .hasStackTraceContaining(what);
  }

  @Test
  void aStartWaitsForAConnectionOfItsUser() throws Exception {
    standby.setReadOnly(false);
    try (Connection root = standby.rootConnection();
        Statement statement = root.createStatement()) {
      statement.execute(
          "CREATE USER 'limited'@'%' IDENTIFIED BY 'limited' WITH MAX_USER_CONNECTIONS 4");
      statement.execute("GRANT ALL ON " + database.name() + ".* TO 'limited'@'%'");
    }
    String url = database.jdbcUrlOf(standby.port());
    List<Connection> all = new ArrayList<>();
    try {
      for (int i = 0; i < 4; i++) {
        all.add(DriverManager.getConnection(url, "limited", "limited"));
      }
      assertWaitsUntil(
          start(Flyway.configure().dataSource(url, "limited", "limited").load()),
          () -> closeAll(all));
    } finally {
      closeAll(all);
    }
  }

  private static void closeAll(List<Connection> connections) {
    try {
      for (Connection connection : connections) {
        connection.close();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Flyway failing(AtomicReference<@Nullable SQLException> failure) {
    return Flyway.configure()
        .dataSource(
            new AbstractDataSource() {
              @Override
              public Connection getConnection() throws SQLException {
                SQLException now = failure.get();
                if (now != null) {
                  throw now;
                }
                return database.connect();
              }

              @Override
              public Connection getConnection(String user, String password) throws SQLException {
                return getConnection();
              }
            })
        .load();
  }

  /** The migration itself is left to another process, and has not happened. */
  private void assertWaitsUntil(FutureTask<Void> start, Runnable end) {
    new Thread(start, "start").start();
    eventually()
        .ignoreExceptions()
        .until(() -> start.isDone() || api.get("/actuator/health/liveness").status() == 200);
    assertThat(start.isDone()).isFalse();

    end.run();

    assertThatThrownBy(() -> start.get(SOON.toSeconds(), TimeUnit.SECONDS))
        .hasStackTraceContaining("org.flywaydb.core.Flyway.validate");
  }

  @Test
  void aStartThatWaitsCanBeStopped() {
    FutureTask<Void> start = start(database.password());
    Thread thread = new Thread(start, "start");
    thread.start();
    eventually().ignoreExceptions().until(() -> api.get("/").status() == 503);

    thread.interrupt();

    assertThatThrownBy(() -> start.get(SOON.toSeconds(), TimeUnit.SECONDS))
        .hasStackTraceContaining("interrupted while waiting for MySQL");
  }

  @Test
  void aStartDoesNotWaitWhereItsUserIsRefused() {
    FutureTask<Void> start = start("wrong");

    start.run();

    assertThatThrownBy(() -> start.get(SOON.toSeconds(), TimeUnit.SECONDS))
        .hasStackTraceContaining("Access denied");
  }

  private FutureTask<Void> start(String password) {
    return start(
        Flyway.configure()
            .dataSource(database.jdbcUrlOf(standby.port()), database.username(), password)
            .load());
  }

  private FutureTask<Void> start(Flyway flyway) {
    ServerProperties server = new ServerProperties();
    server.setPort(port);
    server.setAddress(InetAddress.getLoopbackAddress());
    DatabaseStartupWait wait = new DatabaseStartupWait(new MigrationProperties(false), server);
    return new FutureTask<>(
        () -> {
          wait.migrate(flyway);
          return null;
        });
  }

  private static int portOf(String url) throws SQLException {
    return portOf(new PrimaryDriver(), url);
  }

  private static int portOf(PrimaryDriver driver, String url) throws SQLException {
    Properties user = new Properties();
    user.put("user", database.username());
    user.put("password", database.password());
    try (Connection connection = driver.connect(url, user)) {
      return URI.create(connection.getMetaData().getURL().substring("jdbc:".length())).getPort();
    }
  }
}
