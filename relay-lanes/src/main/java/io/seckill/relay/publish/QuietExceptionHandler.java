package io.seckill.relay.publish;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.impl.ForgivingExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the client from logging a broken connection: the lane logs it, in one line per change of
 * state.
 */
final class QuietExceptionHandler extends ForgivingExceptionHandler {

  private static final Logger log = LoggerFactory.getLogger(QuietExceptionHandler.class);

  @Override
  public void handleUnexpectedConnectionDriverException(Connection connection, Throwable cause) {
    log.debug("connection broke: {}", cause.toString());
  }
}
