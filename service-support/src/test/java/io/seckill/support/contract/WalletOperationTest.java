package io.seckill.support.contract;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.seckill.support.contract.WalletOutcome.WalletCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.StrictJson;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An invalid operation is refused with the name of its member. */
class WalletOperationTest {

  private static final String MIN = "\"userId\":7,\"requestId\":\"key-00000001\"";

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "`\"kind\":\"RECHARGE\",\"amountCents\":0`,amountCents",
        "`\"kind\":\"RECHARGE\",\"amountCents\":-1`,amountCents",
        "`\"kind\":\"ADJUST\",\"amountCents\":0`,amountCents",
        "`\"kind\":\"ADJUST\",\"amountCents\":-10000000000000001`,amountCents",
        "`\"kind\":\"RECHARGE\",\"amountCents\":1.5`,amountCents",
        "`\"kind\":\"RECHARGE\",\"amountCents\":\"1\"`,amountCents",
        "`\"kind\":\"RECHARGE\",\"amountCents\":null`,amountCents",
        "`\"kind\":\"RECHARGE\"`,amountCents",
        "`\"kind\":\"RECHARGE\",\"amountCents\":10000000000000001`,amountCents",
        "`\"kind\":\"RECHARGE\",\"amountCents\":9223372036854775808`,amountCents",
        "`\"amountCents\":1`,kind",
        "`\"kind\":\"TRANSFER\",\"amountCents\":1`,kind",
        "`\"kind\":\"CHARGE\",\"amountCents\":1`,chargeId",
        "`\"kind\":\"REFUND\",\"amountCents\":1,\"chargeId\":0`,chargeId",
        "`\"kind\":\"RECHARGE\",\"amountCents\":1,\"chargeId\":1`,chargeId",
        "`\"kind\":\"RECHARGE\",\"amountCents\":1,\"reason\":\"two\\nlines\"`,reason",
        "`\"kind\":\"RECHARGE\",\"amountCents\":1,\"currency\":\"EUR\"`,currency",
      })
  void refusesAnInvalidMember(String members, String field) {
    assertRefused("{\"operations\":[{" + MIN + "," + members + "}]}", field);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "`{}`,operations",
        "`{\"operations\":[]}`,operations",
        "`{\"operations\":[null]}`,operations",
        "`{\"operations\":[{\"userId\":0,\"kind\":\"RECHARGE\",\"requestId\":\"key-00000001\",\"amountCents\":1}]}`,userId",
        "`{\"operations\":[{\"userId\":7,\"kind\":\"RECHARGE\",\"requestId\":\"short\",\"amountCents\":1}]}`,requestId",
        "`{\"operations\":[{\"userId\":7,\"kind\":\"RECHARGE\",\"requestId\":\"order:17-of-us\",\"amountCents\":1}]}`,requestId",
      })
  void refusesAnInvalidBody(String body, String field) {
    assertRefused(body, field);
  }

  @Test
  void refusesMoreOperationsThanACallMayHave() {
    WalletOperation one =
        new WalletOperation(7, WalletKind.RECHARGE, "key-00000001", 1, null, null);
    assertThat(new WalletOperations(Collections.nCopies(512, one)).operations()).hasSize(512);

    assertThatExceptionOfType(ProblemException.class)
        .isThrownBy(() -> new WalletOperations(Collections.nCopies(513, one)));
  }

  @Test
  void aChargeLowersTheBalanceAndAnOutcomeThatDidNothingIsAProblem() {
    WalletOperation charge =
        new WalletOperation(7, WalletKind.CHARGE, "key-00000001", 5, 17L, "a reason");

    assertThat(charge.signedCents()).isEqualTo(-5);
    assertThat(new WalletOutcome(WalletCode.REPEATED, 1L, 0L).doneNow()).isFalse();
    for (WalletCode code : WalletCode.values()) {
      if (code != WalletCode.DONE && code != WalletCode.REPEATED) {
        assertThatExceptionOfType(ProblemException.class)
            .isThrownBy(() -> WalletOutcome.of(code).doneNow())
            .satisfies(e -> assertThat(e.problem().code().name()).isEqualTo(code.name()));
      }
    }
  }

  private static void assertRefused(String body, String field) {
    assertThatExceptionOfType(ProblemException.class)
        .isThrownBy(() -> StrictJson.read(body.getBytes(UTF_8), WalletOperations.class))
        .satisfies(e -> assertThat(e.problem().field()).isEqualTo(field));
  }
}
