package io.seckill.consumer.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.web.InternalToken;
import io.seckill.testing.TestServers;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(TestServers.class)
class InternalApiIT {

  private static final String PATH = "/internal/v1/skus/77";
  private static final String GOOD = Sales.product("LIMITED", 2, 500).strip();

  @AutoClose private static final TestConsumer consumer = TestConsumer.start();
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

  /** facts.md "Request bodies". */
  static Stream<Arguments> badBodies() {
    Stream.Builder<Arguments> cases = Stream.builder();
    bad(cases, "stock", ":500,", ":-1,", ":1.9,", ":1.0,", ":5e2,", ":\"5\",", ":null,", ":true,");
    bad(cases, "stock", ":500,", ":1000000001,", ":2147483648,", ":9223372036854775808,", ":[5],");
    bad(cases, "priceCents", ":9900", ":-1", ":\"9900\"", ":99.5", ":null", ":1000000000001");
    bad(cases, "name", "\"Phone\"", "\"\"", "\"  \"", "null", "5", "\"a\\nb\"", "\"a\\u0000b\"");
    bad(cases, "name", "\"Phone\"", "\"\\ud800\"", "\"a\\u2028b\"", "[\"Phone\"]");
    bad(cases, "name", "Phone", "x".repeat(201));
    bad(cases, "policy", "\"LIMITED\"", "\"limited\"", "\"NONE\"", "0", "null", "\"\"");
    bad(cases, "limitPerUser", ":2,", ":0,", ":-1,", ":10001,", ":1.5,", ":\"2\",", ":null,");
    bad(cases, "opensAt", "\"2026-01-01T00:00:00Z\"", "\"2026-01-01\"", "1767225600000", "null");
    bad(cases, "opensAt", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00+01:00", "soon");
    bad(cases, "opensAt", "2026-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "+12026-01-01T00:00:00Z");
    bad(cases, "closesAt", "2036-01-01T00:00:00.123Z", "2026-01-01T00:00:00Z");
    bad(cases, "closesAt", "2036-01-01T00:00:00.123Z", "2025-12-31T00:00:00Z");
    bad(cases, "closesAt", "00.123Z", "00.1234Z");
    bad(cases, "extra", "{", "{\"extra\":1,");
    bad(cases, "body", "{", "{\"a b\\n\":1,");
    bad(cases, "body", "\"stock\"", "\"stock\":500,\"stock\"");
    bad(cases, "body", GOOD, "", "null", "[]", "5", "\"x\"", GOOD + "{}", GOOD + "x", "{", "{}}");
    bad(cases, "name", GOOD, "{}");
    bad(cases, "body", GOOD, "[".repeat(5_000));
    return cases.build();
  }

  private static void bad(
      Stream.Builder<Arguments> cases, String field, String part, String... replacements) {
    for (String replacement : replacements) {
      assertThat(GOOD).contains(part);
      cases.add(
          Arguments.of(
              field,
              GOOD.replaceFirst(Pattern.quote(part), Matcher.quoteReplacement(replacement))));
    }
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
    Answer refused = api.send("PUT", PATH, new byte[100 << 10]);

    assertThat(refused.status()).isEqualTo(413);
    assertThat(refused.code()).isEqualTo("PAYLOAD_TOO_LARGE");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "01", "+1", "0x1", "1.0", "9007199254740992", "%31a", "{7}"})
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

  private static void assertNothingStored() {
    assertThat(consumer.number("SELECT COUNT(*) FROM products")).isZero();
  }
}
