package io.seckill.system.ha;

import io.seckill.system.faults.Fault;
import io.seckill.system.faults.OnChannel;
import io.seckill.testing.RedisReplicaSet;
import io.seckill.testing.TestServers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * With Sentinels. Every replica must confirm, because nothing accepted may be lost: one that an old
 * primary keeps after a failover would confirm what the new primary lacks.
 */
@Tag("proof")
@OnChannel(durableIn = "replicas", replicas = 2)
@ExtendWith({TestServers.class, SentinelLab.Extension.class})
class HaRandomScheduleIT extends HaRandomSchedule {

  private final RedisReplicaSet redis;

  HaRandomScheduleIT(SentinelLab lab) {
    super(lab, lab.servers());
    this.redis = lab.redisServers();
  }

  @Override
  List<Fault> ofRedis() {
    List<Fault> all = new ArrayList<>();
    for (int number = 0; number < redis.nodes().size(); number++) {
      all.addAll(toNode("Redis", redis.nodes().get(number), number, redis::healNodes));
      all.addAll(
          toNode(
              "Sentinel",
              redis.sentinelServers().get(number),
              number,
              redis.sentinelServers().get(number)::revive));
    }
    return all;
  }
}
