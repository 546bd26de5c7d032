package io.seckill.system.ha;

import io.seckill.system.faults.Fault;
import io.seckill.system.faults.OnChannel;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** With a Redis Cluster: the shards of the first sale are on several primaries. */
@Tag("proof")
@OnChannel(durableIn = "broker")
@ExtendWith({TestServers.class, ClusterLab.Extension.class})
class ClusterRandomScheduleIT extends HaRandomSchedule {

  private final RedisCluster redis;

  ClusterRandomScheduleIT(ClusterLab lab) {
    super(lab, lab.servers());
    this.redis = lab.redisServers();
  }

  @Override
  List<Fault> ofRedis() {
    return IntStream.range(0, redis.nodes().size())
        .boxed()
        .flatMap(number -> toNode("Redis", redis.node(number), number, redis::heal).stream())
        .toList();
  }
}
