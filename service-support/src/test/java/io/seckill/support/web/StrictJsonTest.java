package io.seckill.support.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StrictJsonTest {

  record Body(long epoch, @Nullable String reason, boolean dryRun) {

    Body {
      RequestChecks.integer("epoch", epoch, 1, 9);
    }
  }

  @Test
  void bindsARecord() {
    assertThat(read("{\"epoch\":3,\"dryRun\":true,\"reason\":null}"))
        .isEqualTo(new Body(3, null, true));
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

  private static Body read(String json) {
    return StrictJson.read(json.getBytes(StandardCharsets.UTF_8), Body.class);
  }
}
