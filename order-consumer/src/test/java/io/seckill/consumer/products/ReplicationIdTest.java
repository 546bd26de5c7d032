package io.seckill.consumer.products;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisKeys;
import org.junit.jupiter.api.Test;

class ReplicationIdTest {

  /** See {@link RedisKeys#absent}. */
  @Test
  void isReadWithASecondKey() {
    assertThat(ReplicationId.keys(9)).containsExactly(RedisKeys.outbox(9), RedisKeys.absent(9));
  }
}
