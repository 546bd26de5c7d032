package io.seckill.gateway.admission;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.Callable;

/** Waits for a condition that must become true; the time-out allows for a loaded machine. */
final class Promise {

  private Promise() {}

  static void soon(Callable<Boolean> condition) {
    await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(20)).until(condition);
  }
}
