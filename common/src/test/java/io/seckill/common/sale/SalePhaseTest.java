package io.seckill.common.sale;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class SalePhaseTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      useHeadersInDisplayName = true,
      textBlock =
          """
          phase     | Redis | MySQL | nobody | of Redis | in fallback | to Redis | decides | chosen | fallback
          REDIS     | true  | false | false  | true     | false       | true     | REDIS   | REDIS  | NO
          STRONG    | false | true  | false  | false    | false       | false    | MYSQL   | MYSQL  | NO
          ENTERING  | false | false | true   | true     | true        | false    | MYSQL   | REDIS  | ENTERING
          MYSQL     | false | true  | false  | true     | true        | false    | MYSQL   | REDIS  | ACTIVE
          LOADING   | false | true  | false  | true     | true        | true     | MYSQL   | REDIS  | LOADING
          RETURNING | false | false | true   | true     | true        | true     | MYSQL   | REDIS  | RETURNING
          SHARDED   | false | false | false  | false    | false       | false    | REDIS   | REDIS  | NO
          """)
  void eachPhaseHasOneDecider(
      SalePhase phase,
      boolean redisDecides,
      boolean mySqlDecides,
      boolean nobodyDecides,
      boolean isOfRedis,
      boolean isInFallback,
      boolean isWrittenToRedis,
      Decider decides,
      Decider configured,
      String fallback) {
    assertThat(phase.redisDecides()).isEqualTo(redisDecides);
    assertThat(phase.mySqlDecides()).isEqualTo(mySqlDecides);
    assertThat(phase.nobodyDecides()).isEqualTo(nobodyDecides);
    assertThat(phase.isOfRedis()).isEqualTo(isOfRedis);
    assertThat(phase.isInFallback()).isEqualTo(isInFallback);
    assertThat(phase.isWrittenToRedis()).isEqualTo(isWrittenToRedis);
    assertThat(phase.decider()).isEqualTo(decides);
    assertThat(phase.configured()).isEqualTo(configured);
    assertThat(phase.fallback()).isEqualTo(fallback);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SHARDED")
  void exactlyOneOfTheThreeIsTrueOfAPhaseOfAProductThatIsSold(SalePhase phase) {
    assertThat(Stream.of(phase.redisDecides(), phase.mySqlDecides(), phase.nobodyDecides()))
        .containsOnlyOnce(true);
  }

  @ParameterizedTest
  @EnumSource
  void withoutAFallbackTheOperatorHasChosenThePhase(Decider chosen) {
    for (int shards : new int[] {1, 16}) {
      assertThat(SalePhase.of(chosen, shards).configured()).isEqualTo(chosen);
      assertThat(SalePhase.of(chosen, shards).decider()).isEqualTo(chosen);
      assertThat(SalePhase.of(chosen, shards).isInFallback()).isFalse();
    }
  }
}
