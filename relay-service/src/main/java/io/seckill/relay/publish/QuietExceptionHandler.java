package io.seckill.relay.publish;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.impl.ForgivingExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A broken connection is told by its lane, in one line per change of state, not by the client. */
final class QuietExceptionHandler extends ForgivingExceptionHandler {

  private static final Logger log = LoggerFactory.getLogger(QuietExceptionHandler.class);

  @Override
  public void handleUnexpectedConnectionDriverException(Connection connection, Throwable cause) {
    log.debug("connection broke: {}", cause.toString());
  }
}
