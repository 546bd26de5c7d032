package io.seckill.gateway.backends;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.seckill.support.contract.Shopper;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;

class ConsumerAnswerTest {

  @Test
  void readsASuccess() {
    ConsumerAnswer answer = read(201, "{\"skuId\":7}", Requester.GATEWAY);

    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.body().path("skuId").intValue()).isEqualTo(7);
    assertThat(read(204, "", Requester.GATEWAY).body().isEmpty()).isTrue();
  }

  /** A gateway and an order-consumer may be of two releases. */
  @Test
  void readsARecordWithoutTheMembersThatItDoesNotHave() {
    ConsumerAnswer answer = read(200, "{\"userId\":7,\"later\":{\"a\":[1]}}", Requester.GATEWAY);

    assertThat(answer.as(Shopper.class)).isEqualTo(new Shopper(7));
  }

  @ParameterizedTest
  @ValueSource(strings = {"<html>", "{\"userId\":", "{\"userId\":7,\"userId\":7}"})
  void aSuccessWithoutJsonIsNoAnswer(String body) {
    ConsumerAnswer answer = read(200, body, Requester.GATEWAY);

    assertThatThrownBy(answer::checked).isInstanceOf(JacksonException.class);
    assertThatThrownBy(() -> answer.as(Shopper.class)).isInstanceOf(JacksonException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "400, GATEWAY, INVALID_REQUEST",
    "404, GATEWAY, UNKNOWN_SKU",
    "409, OPERATOR, ILLEGAL_TRANSITION",
    "503, OPERATOR, REDIS_UNAVAILABLE",
    "503, OPERATOR, BUSY",
    "503, GATEWAY, BUSY"
  })
  void passesARefusalOnWithItsCode(int status, Requester requester, String code) {
    String body = "{\"code\":\"%s\",\"detail\":\"Some text\",\"field\":\"x y\"}".formatted(code);

    assertThatThrownBy(() -> read(status, body, requester))
        .isInstanceOfSatisfying(
            ProblemException.class,
            refused -> {
              Problem problem = refused.problem();
              assertThat(problem.status()).isEqualTo(status);
              assertThat(problem.code().toString()).isEqualTo(code);
              assertThat(problem.json("id")).contains("Some text").doesNotContain("x y");
            });
  }

  @Test
  void leavesOperatorsALongDetailInPrintableCharacters() {
    String many = "replica 10.0.0.17:6379: appendfsync is everysec; ".repeat(8);

    assertThat(detail("Sale \u2013 " + many, Requester.OPERATOR)).isEqualTo("Sale ? " + many);
    assertThat(detail("Line\\nbreak", Requester.OPERATOR)).isEqualTo("Line?break");
    assertThat(detail("x".repeat(2_001), Requester.OPERATOR)).isEqualTo("x".repeat(2_000));
    assertThat(detail("", Requester.OPERATOR)).isNull();
    assertThat(detail(many, Requester.GATEWAY)).isNull();
    assertThat(detail("Line\\nbreak", Requester.GATEWAY)).isNull();
  }

  private static @Nullable String detail(String text, Requester requester) {
    String body = "{\"code\":\"UNSAFE_REDIS\",\"detail\":\"" + text + "\"}";
    return catchThrowableOfType(ProblemException.class, () -> read(409, body, requester))
        .problem()
        .detail();
  }

  @ParameterizedTest
  @CsvSource({"401, OPERATOR", "403, GATEWAY", "500, OPERATOR", "503, GATEWAY"})
  void isNoAnswerForCallersOtherwise(int status, Requester requester) {
    assertThatThrownBy(() -> read(status, "{\"code\":\"REDIS_UNAVAILABLE\"}", requester))
        .isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @CsvSource({"503, OPERATOR, {}", "404, GATEWAY, <html>"})
  void isNoAnswerWithoutAReadableCode(int status, Requester requester, String body) {
    assertThatThrownBy(() -> read(status, body, requester))
        .isInstanceOf(RuntimeException.class)
        .isNotInstanceOf(ProblemException.class);
  }

  private static ConsumerAnswer read(int status, String body, Requester requester) {
    return ConsumerAnswer.of(status, body.getBytes(UTF_8), requester);
  }
}
