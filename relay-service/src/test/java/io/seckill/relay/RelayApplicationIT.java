package io.seckill.relay;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.relay.lane.RelayProcess;
import io.seckill.relay.lane.TestOutbox;
import io.seckill.testing.Ports;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RawConnection;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.builder.SpringApplicationBuilder;

/** Runs the jar as it is shipped. */
@Tag("proof")
@ExtendWith(TestServers.class)
class RelayApplicationIT {

  private final HttpClient http = HttpClient.newHttpClient();
  private final RedisDatabase redis = TestServers.redis().newDatabase();
  private final RabbitVhost rabbit = TestServers.rabbit().newVhost();
  private final TestOutbox outbox = new TestOutbox(redis.url());
  private final int port = Ports.free();

  @AfterEach
  void disconnect() {
    outbox.close();
    rabbit.delete();
  }

  @Test
  void showsMetricsAndHealthWithoutDetails() throws Exception {
    try (RelayProcess relay = RelayProcess.jar(environment())) {
      eventually().until(() -> status("/actuator/health/readiness") == 200);
      assertThat(get("/actuator/health/readiness")).contains("\"lanes\":{\"status\":\"UP\"}");
      outbox.admit(100, TestOutbox.skusOfEveryPartition());
      eventually() // the lengths of queues are read every now and then
          .untilAsserted(
              () ->
                  assertThat(get("/actuator/prometheus"))
                      .contains(
                          settled(100),
                          "seckill_relay_outbox_depth{partition=\"0\"} 0",
                          "seckill_relay_private_queue{lane=\"the-jar-0\",partition=\"0\"} 0"));
      assertThat(get("/actuator/prometheus"))
          .contains(
              "seckill_relay_outbox_oldest_age_seconds{",
              "seckill_relay_in_flight{",
              "seckill_relay_confirm_seconds_bucket{",
              "seckill_relay_nacks_total 0",
              "seckill_relay_returns_total 0",
              "seckill_relay_republished_total 0",
              "seckill_relay_adopted_total 0",
              "seckill_relay_blocked_seconds_total 0",
              "seckill_relay_lane_state{lane=\"the-jar-0\",partition=\"0\",state=\"running\"} 1",
              "seckill_breaker_state{");
      assertThat(get("/actuator/health")).doesNotContain("reason", "details");
      assertThat(relay.isAlive()).isTrue();
    }
  }

  /** Or some hundred callers who send many and read none would keep all threads. */
  @Test
  void givesAConnectionOneAnswer() throws Exception {
    try (RelayProcess relay = RelayProcess.jar(environment())) {
      eventually().until(() -> status("/actuator/health/liveness") == 200);
      String probes = "GET /actuator/health/liveness HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2);
      assertThat(RawConnection.exchange(port, probes)).containsOnlyOnce("HTTP/1.1 200");
      assertThat(relay.isAlive()).isTrue();
    }
  }

  /** Or strangers' files would fill the disk, and their fields the memory. */
  @Test
  void readsNoForm() throws Exception {
    try (RelayProcess relay = RelayProcess.jar(environment())) {
      eventually().until(() -> status("/actuator/health/liveness") == 200);

      assertThat(sendForm("POST", "multipart/form-data")).isEqualTo(405);
      assertThat(sendForm("PUT", "application/x-www-form-urlencoded")).isEqualTo(405);
      assertThat(relay.isAlive()).isTrue();
    }
  }

  private static String settled(int orders) {
    return "seckill_relay_settled_total " + orders + ".0";
  }

  @Test
  void isNotReadyWhileOrdersWaitAndNothingMoves() throws Exception {
    Map<String, String> environment = environment();
    environment.put("SECKILL_BROKER_URLS", "amqp://relay:wrong@127.0.0.1:1/nowhere");
    outbox.admit(1, 1600);
    try (RelayProcess relay = RelayProcess.jar(environment)) {
      eventually().until(() -> status("/actuator/health/readiness") == 503);
      eventually()
          .untilAsserted(
              () ->
                  assertThat(get("/actuator/health/readiness"))
                      .contains(
                          "\"status\":\"DOWN\"",
                          "lane the-jar-0 (BROKER_UNAVAILABLE)",
                          "1 in its outbox",
                          "connecting failed"));
      assertThat(get("/actuator/health/readiness")).doesNotContain("wrong", "amqp:", "redis:");
      assertThat(get("/actuator/health")).doesNotContain("reason", "details");
      assertThat(status("/actuator/health/liveness")).isEqualTo(200);
      assertThat(outbox.waiting()).isEqualTo(1);
      assertThat(relay.isAlive()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"seckill.broker.urls", "seckill.redis.url"})
  void refusesToStartWithoutItsServers(String missing) {
    Map<String, Object> properties = new HashMap<>();
    properties.put("server.port", "0");
    properties.put("seckill.broker.urls", rabbit.url());
    properties.put("seckill.redis.url", redis.url());
    properties.remove(missing);
    SpringApplicationBuilder application =
        new SpringApplicationBuilder(RelayApplication.class).properties(properties);
    assertThatThrownBy(application::run)
        .rootCause()
        .hasMessageContaining(missing.substring(0, missing.lastIndexOf('.')));
  }

  private Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>();
    environment.put("SERVER_PORT", Integer.toString(port));
    environment.put("SECKILL_REDIS_URL", redis.url());
    environment.put("SECKILL_BROKER_URLS", rabbit.url());
    environment.put("SECKILL_RELAY_NAME", "the-jar");
    return environment;
  }

  private int status(String path) throws InterruptedException {
    try {
      return send(path).statusCode();
    } catch (IOException e) {
      return 0;
    }
  }

  private String get(String path) throws IOException, InterruptedException {
    return send(path).body();
  }

  private HttpResponse<String> send(String path) throws IOException, InterruptedException {
    return http.send(request(path).build(), BodyHandlers.ofString());
  }

  private int sendForm(String method, String type) throws IOException, InterruptedException {
    HttpRequest.Builder form =
        request("/actuator/health")
            .header("Content-Type", type)
            .method(method, BodyPublishers.ofString("%z"));
    return http.send(form.build(), BodyHandlers.ofString()).statusCode();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
  }
}
