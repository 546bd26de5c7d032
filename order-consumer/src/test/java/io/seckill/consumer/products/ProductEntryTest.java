package io.seckill.consumer.products;

import static io.seckill.consumer.testing.RequestBodies.read;
import static io.seckill.consumer.testing.RequestBodies.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.testing.Sales;
import java.util.regex.Matcher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProductEntryTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "name         | null",
        "name         | 5",
        "name         | true",
        "name         | \"\"",
        "name         | \"  \"",
        "name         | \"a\\nb\"",
        "name         | \"a\\u0000b\"",
        "name         | \"a\\u2028b\"",
        "name         | \"\\ud800\"",
        "name         | []",
        "name         | {}",
        "priceCents   | null",
        "priceCents   | -1",
        "priceCents   | 1.9",
        "priceCents   | \"5\"",
        "priceCents   | true",
        "priceCents   | 1000000000001",
        "priceCents   | 9223372036854775808",
        "priceCents   | 1e3",
        "stock        | null",
        "stock        | -1",
        "stock        | 1.0",
        "stock        | \"100\"",
        "stock        | 1000000001",
        "stock        | {}",
        "stock        | true",
        "stock        | 5e2",
        "stock        | [5]",
        "policy       | null",
        "policy       | \"limited\"",
        "policy       | 1",
        "policy       | \"NONE\"",
        "policy       | \"\"",
        "limitPerUser | null",
        "limitPerUser | 10001.0",
        "limitPerUser | 0",
        "limitPerUser | -1",
        "limitPerUser | 10001",
        "limitPerUser | 2147483648",
        "limitPerUser | 1.5",
        "limitPerUser | \"5\"",
        "opensAt      | null",
        "opensAt      | 1700000000",
        "opensAt      | \"soon\"",
        "opensAt      | \"2026-02-30T00:00:00Z\"",
        "opensAt      | \"2026-11-21\"",
        "opensAt      | \"2026-11-21T10:00:00\"",
        "opensAt      | \"2026-11-21T10:00:00+01:00\"",
        "opensAt      | \"2026-11-21T10:00:00.0001Z\"",
        "opensAt      | \"1999-12-31T23:59:59Z\"",
        "opensAt      | \"+1000000000-12-31T23:59:59Z\"",
        "closesAt     | \"2100-01-01T00:00:00Z\"",
        "closesAt     | \"2026-13-21T10:00:00Z\"",
        "closesAt     | null",
        "closesAt     | \"2026-01-01T00:00:00Z\"",
        "closesAt     | \"2001-01-01T00:00:00Z\""
      })
  void namesTheMemberThatIsWrong(String member, String value) {
    String bad =
        Sales.product("LIMITED", 5, 100)
            .replaceAll(
                "\"" + member + "\":(\"[^\"]*\"|[0-9]+)",
                Matcher.quoteReplacement("\"" + member + "\":" + value));

    assertThat(refused(bad, ProductEntry.class, ProductEntry::rules)).isEqualTo(member);
  }

  @Test
  void takesNoLongerNameThanTheColumnHolds() {
    String longest = Sales.product("LIMITED", 5, 100).replace("Phone", "x".repeat(200));

    assertThat(read(longest, ProductEntry.class).rules().name()).hasSize(200);
    assertThat(refused(longest.replace("xx\"", "xxx\""), ProductEntry.class, ProductEntry::rules))
        .isEqualTo("name");
  }

  @ParameterizedTest
  @CsvSource({"ONE_PER_USER, 1, 2", "UNLIMITED, 0, 1"})
  void takesOnlyTheLimitThatThePolicyHas(String policy, int right, int wrong) {
    assertThat(read(Sales.product(policy, right, 10), ProductEntry.class).rules().limitPerUser())
        .isEqualTo(right);
    assertThat(refused(Sales.product(policy, wrong, 10), ProductEntry.class, ProductEntry::rules))
        .isEqualTo("limitPerUser");
  }
}
