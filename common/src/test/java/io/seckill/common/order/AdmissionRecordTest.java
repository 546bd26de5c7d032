package io.seckill.common.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.redis.RedisKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdmissionRecordTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "42|2|17|1760000000123|3|Q|",
        "42|2|17|1760000000123|3|C|1760000000200",
        "42|2|17|1760000000123|3|RS|1760000000200",
        "42|2|17|1760000000123|3|RQ|1760000000200",
        "42|2|17|1760000000123|3|RD|1760000000200",
        "42|2|17|1760000000123|3|RA|1760000000200|251117339148419079"
      })
  void readsBackItsTextForm(String text) {
    assertThat(AdmissionRecord.parse(text).format()).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"42|2|17|1760000000123|3|Q|", "42|2|17|1760000000123|3|Q|1760000000123"})
  void hasChangedAtItsAdmissionUntilThereIsAResult(String text) {
    assertThat(AdmissionRecord.parse(text).changedAt()).isEqualTo(1_760_000_000_123L);
  }

  @Test
  void namesTheReasonOfARejection() {
    AdmissionRecord record = AdmissionRecord.parse("42|2|17|1|3|RQ|2");

    assertThat(record.status()).isEqualTo(OrderStatus.REJECTED);
    assertThat(record.reason()).isEqualTo(RejectReason.QUOTA_EXCEEDED);
  }

  @Test
  void staysWithinAPackedHashForEveryUserAndTheLongestKey() {
    AdmissionRecord record =
        AdmissionRecord.parse(
            Long.MAX_VALUE
                + "|100|999999999999|1760000000123|9999999|RA|1760000000124|"
                + Long.MAX_VALUE);

    assertThat(record.format().length()).isLessThanOrEqualTo(128);
    assertThat(RedisKeys.requestField(Long.MAX_VALUE, "k".repeat(64)).length())
        .isLessThanOrEqualTo(128);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "1|1|1|1|1|Q",
        "1|1|1|1|1||1",
        "1|1|1|1|1|Z|1",
        "a|1|1|1|1|Q|1",
        "1|key|1|1|1|1|Q|1"
      })
  void refusesAnythingElse(String text) {
    assertThatThrownBy(() -> AdmissionRecord.parse(text))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
