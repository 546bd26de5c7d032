package io.seckill.consumer.broker;

import com.rabbitmq.client.Connection;
import io.seckill.common.broker.GatheringSockets;
import java.io.IOException;

/** A connection whose writes can be held back and sent together. */
public final class IntakeConnection {

  private final Connection connection;
  private final GatheringSockets sockets;

  IntakeConnection(Connection connection, GatheringSockets sockets) {
    this.connection = connection;
    this.sockets = sockets;
  }

  public Connection connection() {
    return connection;
  }

  /**
   * Keeps what is written, up to a buffer's size, until {@link #release}, which must follow soon:
   * heartbeats wait as well. Without effect on a TLS connection.
   */
  public void holdBack() {
    sockets.holdBack();
  }

  /**
   * Sends what was held back.
   *
   * @throws IOException when the connection is broken
   */
  public void release() throws IOException {
    sockets.release();
  }
}
