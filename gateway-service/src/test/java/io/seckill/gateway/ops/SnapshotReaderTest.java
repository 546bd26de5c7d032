package io.seckill.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.ops.SnapshotReader.Snapshot.Reachability;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class SnapshotReaderTest {

  private static final String CHECKED = "{\"queue\":{\"ready\":0}}";
  private static final String UNCHECKED = "{\"queue\":null}";

  /** order-consumer compares a queue with what Redis has, so it needs both. */
  @ParameterizedTest
  @CsvSource({
    "true, UP, UP",
    "true, DEGRADED, UP",
    "false, UP, DOWN",
    "false, DEGRADED, UNKNOWN",
    "false, DOWN, UNKNOWN",
  })
  void theBrokerIsDownOnlyIfRedisCannotBeTheReason(
      boolean isAnyChecked, Reachability redis, Reachability broker) {
    List<JsonNode> ledgers =
        List.of(
            ledger(UNCHECKED),
            ledger("{\"shards\":[" + (isAnyChecked ? CHECKED : UNCHECKED) + "]}"));

    assertThat(SnapshotReader.broker(ledgers, redis)).isEqualTo(broker);
  }

  /** As in every snapshot while order-consumer is away. */
  @ParameterizedTest
  @CsvSource({"UP", "DOWN"})
  void theBrokerIsUnknownWithoutALedgerThatNeedsIt(Reachability redis) {
    List<JsonNode> ledgers = List.of(ledger("{\"decides\":\"MYSQL\",\"queue\":null}"));

    assertThat(SnapshotReader.broker(List.of(), redis)).isEqualTo(Reachability.UNKNOWN);
    assertThat(SnapshotReader.broker(ledgers, redis)).isEqualTo(Reachability.UNKNOWN);
  }

  @ParameterizedTest
  @CsvSource({"'', '', UP", "7, '', DEGRADED", "'', 7, DEGRADED"})
  void redisIsUpIfEveryPartitionAnswersAndTakesWrites(
      String unavailable, String refusing, Reachability redis) {
    Lanes lanes = new Lanes(List.of(), List.of(), partitions(unavailable), partitions(refusing));

    assertThat(SnapshotReader.reachability(lanes)).isEqualTo(redis);
  }

  private static List<Integer> partitions(String one) {
    return one.isEmpty() ? List.of() : List.of(Integer.valueOf(one));
  }

  private static JsonNode ledger(String json) {
    return JsonMapper.shared().readTree(json);
  }
}
