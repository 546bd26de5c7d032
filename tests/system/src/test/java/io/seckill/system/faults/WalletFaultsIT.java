package io.seckill.system.faults;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.system.ServiceEnvironment;
import io.seckill.system.process.Service;
import io.seckill.system.process.ServiceProcess;
import io.seckill.testing.Bounded;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlPair;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.Ports;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisServer;
import io.seckill.testing.Rows;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Operations on wallets of two order-consumers while processes and stores fail. {@code
 * -Dseckill.wallet.operations} is the number of those at random, {@code -Dseed} what they are.
 */
@Tag("proof")
@ExtendWith(TestServers.class)
class WalletFaultsIT {

  private static final int OPERATIONS = Integer.getInteger("seckill.wallet.operations", 20_000);
  private static final long SEED = Long.getLong("seed", 20_261_126L);
  private static final int USERS = 100;
  private static final int CLIENTS = 8;
  private static final int MOST_OF_A_CALL = 40;
  private static final long NOT_DONE = 0;
  private static final Duration PAUSE = Duration.ofSeconds(3);
  private static final String CALL = "/internal/v1/wallet/operations";
  private static final String TOKEN = "internal-token-of-the-wallet-faults";
  private static final JsonMapper JSON = new JsonMapper();

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(2))
          .build();

  private final RedisServer redis = RedisServer.start();
  private final RabbitServer rabbit = RabbitServer.start();
  private final MySqlPair mysql = MySqlPair.start();
  private final RabbitVhost vhost = rabbit.newVhost();
  private final MySqlDatabase database = mysql.newDatabase();
  private final List<Integer> ports = List.of(Ports.free(), Ports.free());
  private final List<ServiceProcess> processes = new ArrayList<>();

  /** Number of the entry of each operation by its key. */
  private final Map<String, Long> outcomes = new ConcurrentHashMap<>();

  private final AtomicInteger repeated = new AtomicInteger();

  @BeforeAll
  static void endTheLabOfOtherClasses() {
    LabExtension.closeAll();
  }

  @BeforeEach
  void startConsumers() {
    ServiceEnvironment stores =
        new ServiceEnvironment(redis.newDatabase().url(), vhost.url(), database, TOKEN, TOKEN);
    for (int port : ports) {
      Map<String, String> environment = new HashMap<>(stores.consumer(port));
      environment.put("SPRING_DATASOURCE_URL", mysql.jdbcUrl(database));
      environment.put("SPRING_FLYWAY_URL", mysql.jdbcUrl(database));
      ServiceProcess process =
          ServiceProcess.start(Service.CONSUMER, "wallets-" + port, port, environment);
      processes.add(process);
      process.awaitReady();
    }
  }

  @AfterEach
  void stop() {
    processes.forEach(ServiceProcess::close);
    mysql.close();
    rabbit.close();
    redis.close();
  }

  @Test
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  void everyOperationIsDoneOnceOrNotAtAll() throws Exception {
    List<Runnable> faults =
        List.of(
            () -> restarted(0),
            () -> killed(mysql.primary()::kill, mysql.primary()::restart),
            () -> restarted(1),
            () -> killed(redis::wipe, redis::restart),
            this::frozen,
            this::rabbitLosesItsData,
            () -> killed(mysql::promote, mysql::rejoin));
    operateWhile(faults);
    assertSound();
  }

  private void restarted(int process) {
    processes.get(process).kill();
    processes.get(process).restart().awaitReady();
  }

  private static void killed(Runnable kill, Runnable restart) {
    kill.run();
    restart.run();
  }

  private void rabbitLosesItsData() {
    rabbit.wipe();
    rabbit.restart();
    vhost.recreate();
  }

  /** Ends when calls have met it: each client had one under way at most when it began. */
  private void frozen() {
    MySqlServer server = mysql.primary();
    server.freeze();
    int before = repeated.get();
    Signals.await("calls without an outcome", () -> repeated.get() > before + CLIENTS);
    server.thaw();
  }

  /** Injects each of them at least once, and in turn until the operations are over. */
  private void operateWhile(List<Runnable> faults) throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    AtomicInteger injected = new AtomicInteger();
    try {
      List<? extends Future<?>> clients =
          IntStream.range(0, CLIENTS)
              .mapToObj(
                  client ->
                      threads.submit(
                          () -> operate(client, () -> injected.intValue() < faults.size())))
              .toList();
      while (!clients.stream().allMatch(Future::isDone)) {
        faults.get(injected.intValue() % faults.size()).run();
        injected.incrementAndGet();
        var unused = check();
        TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
      }
      clients.forEach(Bounded::get);
      System.out.printf(
          "[wallets] seed %d: %d operations, %d calls repeated, %d faults%n",
          SEED, outcomes.size(), repeated.get(), injected.intValue());
    } finally {
      threads.shutdownNow();
    }
  }

  private void operate(int client, BooleanSupplier mustGoOn) {
    Random random = new Random(SEED + client);
    List<long[]> charges = new ArrayList<>();
    int done = 0;
    while (done < OPERATIONS / CLIENTS || mustGoOn.getAsBoolean()) {
      List<String> keys = new ArrayList<>();
      List<String> operations = new ArrayList<>();
      for (int i = random.nextInt(MOST_OF_A_CALL); i >= 0; i--) {
        keys.add("client-" + client + "-" + done++);
        operations.add(operation(random, keys.get(keys.size() - 1), charges, client, done));
      }
      JsonNode decided = decided(operations, client);
      for (int i = 0; i < keys.size(); i++) {
        outcomes.put(keys.get(i), decided.path(i).path("seq").asLong(NOT_DONE));
      }
    }
  }

  private static String operation(
      Random random, String key, List<long[]> charges, int client, int number) {
    long user = 1L + random.nextInt(USERS);
    long cents = 1L + random.nextInt(100);
    int kind = random.nextInt(10);
    if (kind < 3) {
      return json(user, "RECHARGE", key, cents, "");
    } else if (kind < 4) {
      return json(user, "ADJUST", key, -cents, "");
    } else if (kind < 7 || charges.isEmpty()) {
      long charge = 1_000_000_000L * (client + 1) + number;
      charges.add(new long[] {user, charge});
      return json(user, "CHARGE", key, cents, ",\"chargeId\":" + charge);
    }
    long[] charge = charges.get(random.nextInt(charges.size()));
    return json(charge[0], "REFUND", key, cents, ",\"chargeId\":" + charge[1]);
  }

  private static String json(long user, String kind, String key, long cents, String more) {
    return "{\"userId\":%d,\"kind\":\"%s\",\"requestId\":\"%s\",\"amountCents\":%d%s}"
        .formatted(user, kind, key, cents, more);
  }

  /** The first standby lacks the operation, the second one has it; the caller has no answer. */
  @Test
  @DisplayName("81: MySQL failed over during the COMMIT of a wallet's operation")
  void failedOver() {
    var unused = decided(List.of(json(1, "RECHARGE", "recharge-1", 100, "")), 0);
    mysql.stopReceiving();
    chargeThroughAFailover(1, 0);
    mysql.stopConfirming();
    chargeThroughAFailover(2, 1);

    assertThat(database.on(mysql.primary()).number("SELECT balance_cents FROM wallet"))
        .isEqualTo(40);
    eventually("a check").until(() -> check().path("whole").asBoolean(false));
  }

  private void chargeThroughAFailover(int charge, long atTheStandby) {
    String key = "charge-0" + charge;
    List<String> operations = List.of(json(1, "CHARGE", key, 30, ",\"chargeId\":" + charge));
    CompletableFuture<JsonNode> first =
        CompletableFuture.supplyAsync(() -> post(ports.get(0), CALL, body(operations)));
    Signals.await("its COMMIT to wait", () -> isCommitting(key));
    Signals.await("it at the standby", () -> entries(mysql.standby(), key) == atTheStandby);
    mysql.promote();
    assertThat(code(Bounded.get(first).path("outcomes"))).isEqualTo("WALLET_UNAVAILABLE");
    assertThat(entries(mysql.primary(), key)).isEqualTo(atTheStandby);

    assertThat(code(decided(operations, 1))).isEqualTo(atTheStandby == 1 ? "REPEATED" : "DONE");
    assertThat(code(decided(operations, 0))).isEqualTo("REPEATED");
    mysql.rejoin();
    assertThat(entries(mysql.primary(), key)).isOne();
    assertThat(entries(mysql.standby(), key)).isOne();
  }

  /** Its entry is written, and a COMMIT is under way. */
  private boolean isCommitting(String key) throws SQLException {
    try (Connection session = database.on(mysql.primary()).connect()) {
      session.setTransactionIsolation(Connection.TRANSACTION_READ_UNCOMMITTED);
      String sql =
          "SELECT COUNT(*) FROM wallet_entry, information_schema.processlist"
              + " WHERE request_id = ? AND info = 'COMMIT'";
      return Rows.number(session, sql, key) > 0;
    }
  }

  private long entries(MySqlServer server, String key) {
    String sql = "SELECT COUNT(*) FROM wallet_entry WHERE request_id = ?";
    return database.on(server).number(sql, key);
  }

  private static String code(JsonNode outcomes) {
    return outcomes.path(0).path("code").asString("");
  }

  private static String body(List<String> operations) {
    return "{\"operations\":[" + String.join(",", operations) + "]}";
  }

  /** Repeats the call, by the other process, until every outcome is known. */
  private JsonNode decided(List<String> operations, int client) {
    for (int call = client; ; call++) {
      JsonNode each = post(ports.get(call % 2), CALL, body(operations)).path("outcomes");
      if (each.size() == operations.size()
          && each.valueStream()
              .map(one -> one.path("code").asString())
              .noneMatch(code -> code.equals("BUSY") || code.equals("WALLET_UNAVAILABLE"))) {
        return each;
      }
      repeated.incrementAndGet();
    }
  }

  /** Waits longer than a transaction may, so that no call is under way when it is repeated. */
  private JsonNode post(int port, String path, String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofMinutes(2))
            .header("Authorization", "Bearer " + TOKEN)
            .header("Content-Type", "application/json")
            .header("X-Operator", "test")
            .POST(BodyPublishers.ofString(body))
            .build();
    try {
      HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
      return JSON.readTree(answer.body());
    } catch (IOException e) {
      return JSON.createObjectNode(); // killed
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** May be refused while another check runs. */
  private JsonNode check() {
    JsonNode made = post(ports.get(0), "/internal/v1/wallet/check", "");
    assertThat(made.path("detail")).as("seed %d: %s", SEED, made).isEmpty();
    return made;
  }

  private void assertSound() throws SQLException {
    long refused = outcomes.values().stream().filter(seq -> seq == NOT_DONE).count();
    outcomes.values().removeIf(seq -> seq == NOT_DONE);
    MySqlDatabase written = database.on(mysql.primary());
    try (Connection session = written.connect();
        Statement select = session.createStatement()) {
      select.setFetchSize(Integer.MIN_VALUE); // row by row
      try (ResultSet row = select.executeQuery("SELECT request_id, seq FROM wallet_entry")) {
        while (row.next()) {
          assertThat(outcomes.remove(row.getString(1)))
              .as(row.getString(1))
              .isEqualTo(row.getLong(2));
        }
      }
    }
    assertThat(outcomes).as("seed %d: done without an entry", SEED).isEmpty();
    assertThatThrownBy(() -> written.execute("DELETE FROM wallet_entry"))
        .hasStackTraceContaining("entries of wallets never change");
    JsonNode made = check();
    assertThat(made.path("whole").asBoolean()).as("%s", made).isTrue();
    assertThat(made.path("wallets").asInt()).isEqualTo(USERS);
    assertThat(refused).isPositive();
    assertThat(repeated.get()).as("calls that a fault interrupted").isPositive();
  }
}
