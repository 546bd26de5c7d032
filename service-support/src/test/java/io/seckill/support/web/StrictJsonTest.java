package io.seckill.support.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.FallbackMode;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StrictJsonTest {

  record Body(
      long epoch,
      @Nullable String reason,
      boolean dryRun,
      @Nullable FallbackMode mode,
      @Nullable PurchasePolicy policy,
      @Nullable List<OrderMessage> orders) {

    Body {
      RequestChecks.integer("epoch", epoch, 1, 9);
    }
  }

  @Test
  void bindsARecord() {
    assertThat(read("{\"epoch\":3,\"dryRun\":true,\"reason\":null}"))
        .isEqualTo(new Body(3, null, true, null, null, null));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "epoch | {\"dryRun\":true}",
        "epoch | {\"epoch\":null,\"dryRun\":true}",
        "epoch | {\"epoch\":\"3\",\"dryRun\":true}",
        "epoch | {\"epoch\":\"\",\"dryRun\":true}",
        "epoch | {\"epoch\":3.0,\"dryRun\":true}",
        "epoch | {\"epoch\":true,\"dryRun\":true}",
        "epoch | {\"epoch\":[3],\"dryRun\":true}",
        "epoch | {\"epoch\":9223372036854775808,\"dryRun\":true}",
        "epoch | {\"epoch\":10,\"dryRun\":true}",
        "dryRun | {\"epoch\":3}",
        "dryRun | {\"epoch\":3,\"dryRun\":null}",
        "dryRun | {\"epoch\":3,\"dryRun\":1}",
        "dryRun | {\"epoch\":3,\"dryRun\":\"true\"}",
        "dryRun | {\"epoch\":3,\"dryRun\":\"\"}",
        "reason | {\"epoch\":3,\"dryRun\":true,\"reason\":5}",
        "reason | {\"epoch\":3,\"dryRun\":true,\"reason\":true}",
        "reason | {\"epoch\":3,\"dryRun\":true,\"reason\":[\"a\"]}",
        "mode | {\"epoch\":3,\"dryRun\":true,\"mode\":\"MANUAL\"}",
        "mode | {\"epoch\":3,\"dryRun\":true,\"mode\":1}",
        "policy | {\"epoch\":3,\"dryRun\":true,\"policy\":\"limited\"}",
        "policy | {\"epoch\":3,\"dryRun\":true,\"policy\":\"\"}",
        "policy | {\"epoch\":3,\"dryRun\":true,\"policy\":0}",
        "orders | {\"epoch\":3,\"dryRun\":true,\"orders\":[{\"orderId\":\"1\",\"userId\":0,\"skuId\":1,\"quantity\":1,\"requestId\":\"key-00000001\",\"policy\":\"LIMITED\",\"epoch\":1,\"seq\":1,\"admittedAt\":1}]}",
        "orderId | {\"epoch\":3,\"dryRun\":true,\"orders\":[{\"orderId\":1}]}",
        "orderId | {\"epoch\":3,\"dryRun\":true,\"orders\":[{\"orderId\":\"x\"}]}",
        "extra | {\"epoch\":3,\"dryRun\":true,\"extra\":1}",
        "body | {\"epoch\":3,\"dryRun\":true,\"<b>\":1}",
        "body | {\"epoch\":3,\"epoch\":3,\"dryRun\":true}",
        "body | {\"epoch\":3,\"dryRun\":true}x",
        "body | {\"epoch\":3,\"dryRun\":true}{}",
        "body | {",
        "body | {}}",
        "body | []",
        "body | null",
        "body | 5"
      })
  void namesTheMemberThatIsWrong(String field, String json) {
    Problem problem = catchThrowableOfType(ProblemException.class, () -> read(json)).problem();

    assertThat(problem.code()).isEqualTo(ProblemCode.INVALID_REQUEST);
    assertThat(problem.field()).isEqualTo(field);
    assertThat(problem.detail()).contains(field);
  }

  @ParameterizedTest
  @ValueSource(strings = {"UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE", "UTF-32BE"})
  void readsUtf8Only(Charset other) {
    byte[] json = "{\"epoch\":3,\"dryRun\":true}".getBytes(other);

    Problem problem =
        catchThrowableOfType(ProblemException.class, () -> StrictJson.read(json, Body.class))
            .problem();

    assertThat(problem.code()).isEqualTo(ProblemCode.INVALID_REQUEST);
    assertThat(problem.field()).isEqualTo("body");
  }

  private static Body read(String json) {
    return StrictJson.read(json.getBytes(StandardCharsets.UTF_8), Body.class);
  }
}
