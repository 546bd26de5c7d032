package io.seckill.system.ha;

import io.seckill.common.redis.RedisSettings;
import io.seckill.system.faults.Channel;
import io.seckill.system.faults.FaultReport;
import io.seckill.system.faults.LabExtension;
import io.seckill.system.faults.PipelineLab;
import io.seckill.system.faults.ServicesUnderTest;
import io.seckill.testing.DeployedSettings;
import io.seckill.testing.RedisCluster;

/** A lab with a Redis Cluster of three primaries and three replicas. */
final class ClusterLab extends PipelineLab {

  private final RedisCluster redis;
  private final HaServers servers;

  private ClusterLab(RedisCluster redis, HaServers servers, Channel channel, FaultReport report) {
    super(servers, ServicesUnderTest.AS_BUILT, channel, report);
    this.redis = redis;
    this.servers = servers;
  }

  private static ClusterLab start(Channel channel, FaultReport report) {
    RedisCluster redis =
        RedisCluster.startWithReplicas(DeployedSettings.redisCluster().toArray(String[]::new));
    HaServers.RedisForm form =
        new HaServers.RedisForm(
            RedisSettings.Mode.CLUSTER, redis.nodes(), redis::heal, redis::close);
    return new ClusterLab(redis, HaServers.with(form), channel, report);
  }

  @Override
  public HaServers servers() {
    return servers;
  }

  RedisCluster redisServers() {
    return redis;
  }

  /** Provides it. */
  static final class Extension extends LabExtension {

    Extension() {
      super(ClusterLab.class);
    }

    @Override
    protected PipelineLab start(Channel channel, FaultReport report) {
      return ClusterLab.start(channel, report);
    }
  }
}
