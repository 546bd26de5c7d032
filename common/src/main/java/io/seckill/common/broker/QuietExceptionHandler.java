package io.seckill.common.broker;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.impl.ForgivingExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the client from logging a broken connection, for owners of connections that log it
 * themselves.
 */
public final class QuietExceptionHandler extends ForgivingExceptionHandler {

  private static final Logger log = LoggerFactory.getLogger(QuietExceptionHandler.class);

  @Override
  public void handleUnexpectedConnectionDriverException(Connection connection, Throwable cause) {
    log.debug("connection broke: {}", cause.toString());
  }
}
