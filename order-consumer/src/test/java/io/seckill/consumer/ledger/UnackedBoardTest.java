package io.seckill.consumer.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.ledger.BrokerBalanceItems.UnackedBoard;
import io.seckill.testing.CannedRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

class UnackedBoardTest {

  @Test
  void postsTheNumbersOfAllQueuesInOneRoundTrip() {
    List<String> posted = new ArrayList<>();
    CannedRedis redis =
        new CannedRedis(
            command -> {
              posted.add(command.get(1));
              return "OK";
            });

    new UnackedBoard(() -> Map.of("a", 1L, "b", 2L, "c", 0L), redis).post();

    assertThat(posted).hasSize(3);
    assertThat(redis.roundTrips()).isEqualTo(1);
  }

  @Test
  void postsToEachNodeOfAClusterAlone() {
    List<String> posted = new ArrayList<>();
    UnifiedJedis redis =
        CannedRedis.cluster(
            command -> {
              posted.add(command.get(1));
              return "OK";
            });

    new UnackedBoard(() -> Map.of("a", 1L, "b", 2L, "c", 0L), redis).post();

    assertThat(posted).hasSize(3);
  }

  @Test
  void theNumberIsUnknownWhileRedisIsSilentOrItsKeyIsForeign() {
    CannedRedis silent =
        new CannedRedis(
            command -> {
              throw new JedisConnectionException("silent");
            });
    CannedRedis foreign = new CannedRedis(command -> "abc");

    assertThat(new UnackedBoard(Map::of, silent).unacked("a")).isEmpty();
    assertThat(new UnackedBoard(Map::of, foreign).unacked("a")).isEmpty();
  }
}
