package io.seckill.gateway.backends;

import io.seckill.support.web.ProblemCode;
import io.seckill.testing.Eventually;

/** Blocking calls on a thread of their own, for tests of other features. */
public final class TestCalls {

  private TestCalls() {}

  public static BlockingCalls oneThread() {
    return new BlockingCalls("test", ProblemCode.UNAVAILABLE, 1, 10, Eventually.SOON);
  }
}
