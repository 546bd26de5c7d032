package io.seckill.system.ha;

import io.seckill.common.redis.RedisSettings;
import io.seckill.system.faults.Channel;
import io.seckill.system.faults.FaultReport;
import io.seckill.system.faults.FaultRun;
import io.seckill.system.faults.LabExtension;
import io.seckill.system.faults.PipelineLab;
import io.seckill.system.faults.ServicesUnderTest;
import io.seckill.testing.DeployedSettings;
import io.seckill.testing.RedisReplicaSet;
import java.time.Duration;

/** A lab with a Redis primary, two replicas and three Sentinels. */
final class SentinelLab extends PipelineLab {

  private final RedisReplicaSet redis;
  private final HaServers servers;

  private SentinelLab(
      RedisReplicaSet redis, HaServers servers, Channel channel, FaultReport report) {
    super(servers, ServicesUnderTest.AS_BUILT, channel, report);
    this.redis = redis;
    this.servers = servers;
  }

  private static SentinelLab start(Channel channel, FaultReport report) {
    RedisReplicaSet redis =
        RedisReplicaSet.start(DeployedSettings.redisHa().toArray(String[]::new));
    HaServers.RedisForm form =
        new HaServers.RedisForm(
            RedisSettings.Mode.SENTINEL, redis.sentinels(), redis::heal, redis::close);
    return new SentinelLab(redis, HaServers.with(form), channel, report);
  }

  @Override
  public HaServers servers() {
    return servers;
  }

  /** A row of 3 000 purchases in 15 s: most of these servers take seconds to fail over. */
  @Override
  public FaultRun run(String row) {
    return run(row + ", durable in " + channel().durableIn(), 3_000, Duration.ofSeconds(15));
  }

  RedisReplicaSet redisServers() {
    return redis;
  }

  /** Provides it. */
  static final class Extension extends LabExtension {

    Extension() {
      super(SentinelLab.class);
    }

    @Override
    protected PipelineLab start(Channel channel, FaultReport report) {
      return SentinelLab.start(channel, report);
    }
  }
}
