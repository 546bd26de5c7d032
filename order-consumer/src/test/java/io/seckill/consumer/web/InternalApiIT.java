package io.seckill.consumer.web;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.web.InternalToken;
import io.seckill.testing.RawConnection;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroup;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.contributor.HealthContributors;
import org.springframework.boot.health.registry.HealthContributorRegistry;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

@ExtendWith(TestServers.class)
class InternalApiIT {

  private static final String PATH = "/internal/v1/skus/77";
  private static final String CALLBACK = "/internal/v1/payments/callback";
  private static final String GOOD = Sales.product("LIMITED", 2, 500).strip();

  private static final TestConsumer consumer = TestConsumer.shared();
  private static final InternalApi api = consumer.api();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Bearer token-of-the-tests-012345678",
        "Bearer token-of-the-tests-01234567890",
        "Basic token-of-the-tests-0123456789",
        "token-of-the-tests-0123456789"
      })
  void refusesAnyCallWithoutTheToken(String authorization) {
    Answer refused = api.with("Authorization", authorization).put(PATH, GOOD);

    assertThat(refused.status()).isEqualTo(401);
    assertThat(refused.code()).isEqualTo("UNAUTHORIZED");
    assertThat(refused.contentType()).isEqualTo("application/problem+json");
    assertNothingStored();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/",
        "/nothing",
        "/internal/v1/skus/1",
        "/internal//v1/skus/1",
        "/actuator",
        "/actuator/env",
        "/actuator/health/../../internal/v1/skus/1",
        "/actuator/prometheus/..;/..;/internal/v1/skus/1",
        "/actuator/prometheus;/../../internal/v1/skus/1",
        "/internal/v1/payments/callback/../../skus/1"
      })
  void noSpellingOfAPathGetsAroundTheToken(String path) {
    assertThat(api.with("Authorization", "").get(path).status()).isIn(400, 401);
  }

  @Test
  void everyAddressButTheProvidersWantsTheToken() {
    InternalApi nobody = api.with("Authorization", "");
    Set<String> open = new TreeSet<>();
    for (RequestMappingHandlerMapping mappings :
        consumer.beans(RequestMappingHandlerMapping.class)) {
      for (RequestMappingInfo mapping : mappings.getHandlerMethods().keySet()) {
        for (String pattern : mapping.getPatternValues()) {
          for (RequestMethod method : mapping.getMethodsCondition().getMethods()) {
            String path = pattern.replaceAll("[{][^}]*}", "1");
            if (nobody.send(method.name(), path, new byte[0]).status() != 401) {
              open.add(pattern);
            }
          }
        }
      }
    }

    assertThat(open).containsExactly(CALLBACK);
  }

  @Test
  void noFallbackBeginsWhereItIsOff() {
    String fallback = "/internal/v1/fallback";

    Answer heard = heartbeat();

    assertThat(heard.number("failurePercent")).as(heard.text()).isEqualTo(50);
    assertThat(api.get(fallback).text("mode")).isEqualTo("off");
    assertThat(api.post(fallback + "/enter", "{}").code()).isEqualTo("REFUSED");
    consumer.update("DELETE FROM gateway_node");
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/html", "foo"})
  void answersInJsonAlsoCallersWhoAcceptOtherTypes(String accepted) {
    Answer heard = heartbeat(api.with("Accept", accepted));

    assertThat(heard.status()).as(heard.text()).isEqualTo(200);
    assertThat(heard.contentType()).isEqualTo("application/json");
    consumer.update("DELETE FROM gateway_node");
  }

  @Test
  void healthKeepsItsOwnType() {
    String type = "application/vnd.spring-boot.actuator.v3+json";

    assertThat(api.with("Accept", type).get("/actuator/health").contentType()).isEqualTo(type);
  }

  private static Answer heartbeat() {
    return heartbeat(api);
  }

  private static Answer heartbeat(InternalApi sender) {
    String beat =
        "{'name':'a','fallback':'automatic','term':0,'redis':'USABLE','forMs':0,'breaker':'CLOSED',"
            + "'failurePercent':0,'failuresPerSecond':0}";
    return sender.put("/internal/v1/gateways/" + "3".repeat(32), beat.replace('\'', '"'));
  }

  /** Or each would keep a thread for as long as its body takes. */
  @ParameterizedTest
  @CsvSource({
    "PUT /internal/v1/skus/77, keep-alive",
    "PUT /internal/v1/skus/77, close",
    "GET /actuator/health, keep-alive",
    "GET /actuator/prometheus, close"
  })
  void noCallWithoutTheTokenWaitsForItsBody(String target, String connection) {
    String begin = "%s HTTP/1.1\r\nHost: a\r\nConnection: %s\r\nContent-Length: 100\r\n\r\n{";

    assertThat(RawConnection.exchange(consumer.port(), begin.formatted(target, connection)))
        .startsWith("HTTP/1.1 401");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/actuator/health/liveness", "/actuator/prometheus"})
  void aConnectionGetsOneAnswerWithoutTheToken(String path) {
    String open = "GET " + path + " HTTP/1.1\r\nHost: a\r\n";
    String owned = open + "Authorization: Bearer " + TestConsumer.TOKEN + "\r\n";

    assertThat(RawConnection.exchange(consumer.port(), (open + "\r\n").repeat(2)))
        .containsOnlyOnce("HTTP/1.1 200");
    assertThat(
            RawConnection.exchange(
                consumer.port(), owned + "\r\n" + owned + "Connection: close\r\n\r\n"))
        .containsSubsequence("HTTP/1.1 200", "HTTP/1.1 200");
  }

  @Test
  void connectionsWhoseAnswersNobodyReadKeepNoHeartbeatAndNoProbeWaiting() throws IOException {
    String scrapes = "GET /actuator/prometheus HTTP/1.1\r\nHost: a\r\n\r\n".repeat(200);
    List<Socket> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 40; i++) {
        Socket one = new Socket();
        silent.add(one);
        one.setReceiveBufferSize(4_096);
        one.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), consumer.port()));
        one.getOutputStream().write(scrapes.getBytes(StandardCharsets.US_ASCII));
      }
      for (Socket one : silent) {
        eventually("a first answer").until(() -> one.getInputStream().available() > 0);
      }

      assertThat(heartbeat().status()).isEqualTo(200);
      assertThat(api.with("Authorization", "").get("/actuator/health/liveness").status())
          .isEqualTo(200);
    } finally {
      for (Socket one : silent) {
        one.close();
      }
      consumer.update("DELETE FROM gateway_node");
    }
  }

  @Test
  void readinessDependsOnTheIntake() {
    HealthEndpointGroup readiness = consumer.bean(HealthEndpointGroups.class).get("readiness");

    assertThat(readiness).isNotNull();
    assertThat(readiness.isMember("intake")).isTrue();
  }

  /** A caller needs no token, and would take a connection of each from others. */
  @Test
  void healthAsksNeitherMySqlNorTheBroker() {
    assertThat(consumer.bean(HealthContributorRegistry.class).stream())
        .extracting(HealthContributors.Entry::name)
        .contains("intake")
        .doesNotContain("db", "rabbit");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/actuator/health",
        "/actuator/health/liveness",
        "/actuator/health/readiness",
        "/actuator/prometheus"
      })
  void healthAndMetricsNeedNoToken(String path) {
    Answer answer = api.with("Authorization", "").get(path);

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.text()).doesNotContain("jdbc:mysql", "\"components\"");
  }

  @Test
  void doesNotStartWithoutATokenOfSixteenCharacters() {
    for (String token : new String[] {null, "", "fifteen-letters"}) {
      assertThatThrownBy(() -> new InternalToken(token))
          .hasMessageContaining("seckill.internal.token");
    }
    assertThat(new InternalToken("sixteen-letters!").toString()).doesNotContain("sixteen");
  }

  /** {@code StrictJsonTest} and {@code ProductEntryTest} try the others. */
  static Stream<Arguments> badBodies() {
    return Stream.of(
        Arguments.of("stock", GOOD.replace(":500,", ":-1,")),
        Arguments.of("body", ""),
        Arguments.of("body", "[".repeat(5_000)));
  }

  @ParameterizedTest
  @MethodSource("badBodies")
  void namesTheFieldOfABadBodyAndStoresNothing(String field, String body) {
    Answer refused = api.put(PATH, body);

    assertThat(refused.status()).as(refused.text()).isEqualTo(400);
    assertThat(refused.code()).isEqualTo("INVALID_REQUEST");
    assertThat(refused.field()).isEqualTo(field);
    assertThat(refused.contentType()).isEqualTo("application/problem+json");
    assertNothingStored();
  }

  @Test
  void refusesInvalidUtf8() {
    byte[] body = GOOD.getBytes(StandardCharsets.ISO_8859_1);
    body[GOOD.indexOf("Phone")] = (byte) 0xff;

    assertThat(api.send("PUT", PATH, body).code()).isEqualTo("INVALID_REQUEST");
    assertNothingStored();
  }

  @Test
  void readsNoMoreThanTheBodyLimit() {
    Answer refused = api.send("PUT", PATH, new byte[300 << 10]);

    assertThat(refused.status()).isEqualTo(413);
    assertThat(refused.code()).isEqualTo("PAYLOAD_TOO_LARGE");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "01", "+1", "0x1", "1.0", "4503599627370496", "%31a", "{7}"})
  void refusesWhatIsNoSkuId(String id) {
    Answer refused = api.get("/internal/v1/skus/" + id.replace("{", "%7B").replace("}", "%7D"));

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.field()).isEqualTo("skuId");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "two words",
        "a234567890123456789012345678901234567890123456789012345678901234x"
      })
  void changesNeedAnOperatorWhoFitsALogLine(String operator) {
    Answer refused = api.with("X-Operator", operator).put(PATH, GOOD);

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.field()).isEqualTo("X-Operator");
    assertNothingStored();
  }

  @Test
  void whatTheFrameworkRefusesIsAProblemToo() {
    assertThat(api.get("/internal/v1/nothing").code()).isEqualTo("NOT_FOUND");
    assertThat(api.send("DELETE", PATH, new byte[0]).code()).isEqualTo("METHOD_NOT_ALLOWED");
    assertThat(api.with("Content-Type", "text/plain").put(PATH, GOOD).code())
        .isEqualTo("UNSUPPORTED_MEDIA_TYPE");
  }

  @Test
  void readsNoForm() {
    InternalApi files = api.with("Content-Type", "multipart/form-data");
    InternalApi fields = api.with("Content-Type", "application/x-www-form-urlencoded");

    assertThat(files.with("Authorization", "").get("/actuator/health/liveness").status())
        .isEqualTo(200);
    assertThat(fields.put(PATH, "%z").code()).isEqualTo("UNSUPPORTED_MEDIA_TYPE");
  }

  private static void assertNothingStored() {
    assertThat(consumer.number("SELECT COUNT(*) FROM products WHERE sku_id = 77")).isZero();
  }
}
