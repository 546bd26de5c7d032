package io.seckill.consumer.runtime;

import com.rabbitmq.client.Connection;
import io.seckill.common.broker.GatheringSockets;
import java.io.IOException;

/** A connection that can buffer its writes and send them together. */
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
   * Buffers writes, up to the size of the buffer, until {@link #release}, which must follow soon:
   * heartbeats are delayed as well. Has no effect on a TLS connection.
   */
  public void holdBack() {
    sockets.holdBack();
  }

  /**
   * Sends the buffered writes.
   *
   * @throws IOException when the connection is broken
   */
  public void release() throws IOException {
    sockets.release();
  }
}
