package io.seckill.gateway.backends;

import io.seckill.support.logging.ThrottledLog;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Hooks;

/**
 * Logs failures that come when no caller waits any more, as after a time-out: Reactor would log
 * each of them with its stack.
 */
@Component
final class DroppedFailures implements DisposableBean {

  private final ThrottledLog failures =
      new ThrottledLog(LoggerFactory.getLogger(DroppedFailures.class));

  DroppedFailures() {
    Hooks.onErrorDropped(
        failure -> failures.warn("a call failed that no caller waits for any more", failure));
  }

  @Override
  public void destroy() {
    Hooks.resetOnErrorDropped();
  }
}
