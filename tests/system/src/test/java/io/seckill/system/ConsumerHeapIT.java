package io.seckill.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.common.redis.RedisKeys;
import io.seckill.system.process.Service;
import io.seckill.system.process.ServiceProcess;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.Ports;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.TestServers;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * Loads, compares, repairs and audits a sale of 300,000 orders in an order-consumer with a small
 * heap: what it keeps in memory does not grow with the sale.
 */
@Tag("proof")
@ExtendWith(TestServers.class)
class ConsumerHeapIT {

  /** It has 512 MB as shipped. A hundred bytes of each order would be 30 MB of these. */
  private static final String HEAP = "-Xmx72m";

  private static final long SKU = 8_101;
  private static final long EMPTY_SKU = 8_102;
  private static final int ORDERS = 300_000;

  /** Each has bought twice. */
  private static final int USERS = ORDERS / 2;

  private static final int MOST_RUNS = 5;
  private static final String MADE =
      "SELECT COALESCE(SUM(made), 0) FROM reconciliation WHERE sku_id = " + SKU;
  private static final String TOKEN = "internal-token-of-the-heap-test";
  private static final Duration LONGEST_RUN = Duration.ofMinutes(10);

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private static MySqlDatabase mysql;
  private static UnifiedJedis redis;
  private static int port;
  private static ServiceProcess consumer;

  @BeforeAll
  static void start() {
    RedisDatabase database = TestServers.redis().newDatabase();
    mysql = TestServers.mysql().newDatabase();
    redis = RedisClient.create(database.url());
    port = Ports.free();
    Map<String, String> environment =
        new HashMap<>(
            new ServiceEnvironment(
                    database.url(), TestServers.rabbit().newVhost().url(), mysql, TOKEN, TOKEN)
                .consumer(port));
    environment.put("SECKILL_PREHEAT_ALLOWUNSAFEREDIS", "true");
    environment.put("SECKILL_RECONCILIATION_INTERVAL", "1h");
    environment.put("SECKILL_FALLBACK", "manual");
    consumer =
        ServiceProcess.start(
            Service.CONSUMER,
            Service.CONSUMER.asShipped(),
            "heap",
            port,
            environment,
            List.of(HEAP, "-XX:+ExitOnOutOfMemoryError"));
    consumer.awaitReady();
  }

  @AfterAll
  static void stop() {
    if (consumer != null) {
      consumer.close();
      redis.close();
    }
  }

  @Test
  void worksOnASaleOfAnySize() throws Exception {
    write(EMPTY_SKU, 0);
    assertThat(reconcile(EMPTY_SKU)).contains("\"outcome\":\"REBUILT\"");
    write(SKU, ORDERS);

    // Redis has nothing of it.
    assertThat(reconcile(SKU)).contains("\"outcome\":\"REBUILT\"").contains(ORDERS + " orders");
    assertThat(redis.hget(RedisKeys.sku(SKU), "state")).isEqualTo("OPEN");
    assertThat(reconcile(SKU)).contains("\"outcome\":\"CLEAN\"");

    // Every quota is wrong.
    everyUserOwns("owned_count + 1");
    assertRepairsEveryQuota();
    everyUserOwns("owned_count - 1");
    assertRepairsEveryQuota();

    post("/internal/v1/fallback/enter", "{}");
    awaitSale("fallback = 'ACTIVE' AND decides = 'MYSQL'");
    post("/internal/v1/fallback/leave", "{}");
    awaitSale("fallback = 'NO' AND decides = 'REDIS'");

    post(sale(SKU) + "/state", "{\"state\":\"CLOSED\"}");
    post(sale(SKU) + "/preheat", "{}");
    post(sale(SKU) + "/open", "{}");
    assertThat(post(sale(SKU) + "/audit", "{}")).contains("\"differences\":[]");
    assertThat(consumer.isAlive()).isTrue();
  }

  /** One run finds a limited number of users that Redis lacks, and says so. */
  private static void assertRepairsEveryQuota() {
    long before = mysql.number(MADE);
    String last = reconcile(SKU);
    for (int runs = 1; runs < MOST_RUNS && last.contains("run again"); runs++) {
      assertThat(last).contains("\"outcome\":\"FOUND\"");
      last = reconcile(SKU);
    }
    assertThat(last).contains("\"outcome\":\"REPAIRED\"");
    assertThat(mysql.number(MADE) - before).isEqualTo(USERS);
    assertThat(reconcile(SKU)).contains("\"outcome\":\"CLEAN\"");
  }

  private static String sale(long sku) {
    return "/internal/v1/skus/" + sku;
  }

  private static String reconcile(long sku) {
    return post(sale(sku) + "/reconciliation", "{\"dryRun\":false}");
  }

  private static String post(String path, String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(LONGEST_RUN)
            .header("Authorization", "Bearer " + TOKEN)
            .header("X-Operator", "tester")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    // 409 while the daily audit compares the same sale.
    HttpResponse<String> answer =
        await()
            .atMost(LONGEST_RUN)
            .until(
                () -> HTTP.send(request, BodyHandlers.ofString()),
                response -> response.statusCode() != 409);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  private static void awaitSale(String condition) {
    String query =
        "SELECT COUNT(*) FROM products WHERE sku_id = %d AND %s".formatted(SKU, condition);
    await().atMost(LONGEST_RUN).until(() -> mysql.number(query) == 1);
  }

  private static void everyUserOwns(String units) throws SQLException {
    try (Connection connection = mysql.connect();
        Statement statement = connection.createStatement()) {
      connection.setNetworkTimeout(Runnable::run, (int) LONGEST_RUN.toMillis());
      statement.execute("UPDATE user_quota SET owned_count = " + units + " WHERE sku_id = " + SKU);
    }
  }

  private static void write(long sku, int orders) throws SQLException {
    try (Connection connection = mysql.connect()) {
      SaleHistory.write(connection, sku, orders, "OPEN", 1);
    }
  }
}
