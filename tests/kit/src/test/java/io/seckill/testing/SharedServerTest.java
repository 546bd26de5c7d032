package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SharedServerTest {

  @Test
  void triesAServerThatCannotStartOnlyOnce() {
    AtomicInteger starts = new AtomicInteger();
    SharedServer<RedisServer> server =
        new SharedServer<>(
            () -> {
              starts.incrementAndGet();
              throw new ServerStartException("no such server", null);
            });

    assertThatThrownBy(server::get).hasMessage("no such server");
    assertThatThrownBy(server::get).hasMessage("no such server");
    assertThat(starts).hasValue(1);
  }
}
