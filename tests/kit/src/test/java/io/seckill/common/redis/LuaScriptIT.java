package io.seckill.common.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.testing.TestServers;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/** facts.md 8: Redis loses its cached scripts at a restart, a failover and SCRIPT FLUSH. */
@ExtendWith(TestServers.class)
class LuaScriptIT {

  private static final List<String> KEY = List.of("seckill:{0}:list");

  private final LuaScript append = LuaScript.from(LuaScriptIT.class, "append.lua");

  @AutoClose private final UnifiedJedis redis = TestServers.redis().newDatabase().open();

  @BeforeEach
  void connect() {
    redis.scriptFlush(KEY.get(0));
  }

  @Test
  void runsOnceWhenRedisHasNotSeenTheScript() {
    assertThat(append.call(redis, KEY, List.of("a"))).isEqualTo(1L);
    assertThat(append.call(redis, KEY, List.of("b"))).isEqualTo(2L);
  }

  @Test
  void runsOnceEachInAPipelineThatFindsNoScript() {
    try (AbstractPipeline pipeline = redis.pipelined()) {
      Response<Object> first = append.queue(pipeline, KEY, List.of("a"));
      Response<Object> second = append.queue(pipeline, KEY, List.of("b"));
      pipeline.sync();

      assertThat(append.answer(first, redis, KEY, List.of("a"))).isEqualTo(1L);
      assertThat(append.answer(second, redis, KEY, List.of("b"))).isEqualTo(2L);
    }
    assertThat(redis.lrange(KEY.get(0), 0, -1)).containsExactly("a", "b");
  }

  @ParameterizedTest
  @CsvSource({"7", "999999999999999", "1000000000000000", "9223372036854775807"})
  void includesTheBucketOfAUserAsJavaComputesIt(long user) {
    LuaScript script =
        new LuaScript(
            """
            #!lua flags=no-writes
            -- include bucket_of.lua
            return bucketOf(ARGV[1], tonumber(ARGV[2]))
            """);

    for (int buckets : new int[] {1, 2, 1_563, 1_000_003}) {
      assertThat(script.call(redis, KEY, List.of("" + user, "" + buckets)))
          .isEqualTo((long) RedisKeys.bucketOf(user, buckets));
    }
  }

  @Test
  void refusesAScriptThatIsNotThere() {
    assertThatThrownBy(() -> new LuaScript("-- include missing_too.lua\n"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("missing_too.lua");
    assertThatThrownBy(() -> LuaScript.from(LuaScriptIT.class, "missing.lua"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("missing.lua");
  }
}
