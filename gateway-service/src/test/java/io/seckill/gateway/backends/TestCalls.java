package io.seckill.gateway.backends;

import io.seckill.support.web.InternalToken;
import io.seckill.support.web.ProblemCode;
import io.seckill.testing.Eventually;
import java.net.URI;
import java.time.Duration;
import org.springframework.http.client.ReactorResourceFactory;

/** Calls of stores and of order-consumer, for tests of other features. */
public final class TestCalls {

  private TestCalls() {}

  /** A client of an order-consumer at this address; {@code resources} are started. */
  public static ConsumerClient consumer(URI url, ReactorResourceFactory resources) {
    return new ConsumerClient(
        new ConsumerProperties(url, Duration.ofSeconds(60)),
        new InternalToken("0123456789abcdef"),
        resources);
  }

  public static BlockingCalls oneThread() {
    return new BlockingCalls("test", ProblemCode.UNAVAILABLE, 1, 10, Eventually.SOON);
  }
}
