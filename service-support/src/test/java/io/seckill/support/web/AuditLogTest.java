package io.seckill.support.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.testing.LoggedLines;
import java.util.function.Supplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class AuditLogTest {

  @AutoClose private final LoggedLines lines = LoggedLines.of("audit");

  @Test
  void aChangeThatIsRefusedOrFailsLeavesALineToo() {
    ProblemException refusal = ProblemException.of(ProblemCode.SALE_RUNNING);
    RuntimeException failure = new IllegalStateException("a defect");

    assertThat(audited(() -> 3)).isEqualTo(3);
    assertThatThrownBy(() -> audited(failing(refusal))).isSameAs(refusal);
    assertThatThrownBy(() -> audited(failing(failure))).isSameAs(failure);

    assertThat(lines.texts())
        .containsExactly(
            "operator=olga action=preheat sku=1001 epoch=3",
            "operator=olga action=preheat sku=1001 refused=SALE_RUNNING",
            "operator=olga action=preheat sku=1001 failed=IllegalStateException");
  }

  private static int audited(Supplier<Integer> work) {
    return new AuditLog()
        .audited(new Operator("olga"), "preheat", "sku=1001", work, epoch -> "epoch=" + epoch);
  }

  private static Supplier<Integer> failing(RuntimeException failure) {
    return () -> {
      throw failure;
    };
  }
}
