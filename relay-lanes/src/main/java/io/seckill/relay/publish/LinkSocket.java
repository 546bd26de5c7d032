package io.seckill.relay.publish;

import com.rabbitmq.client.SocketConfigurator;
import io.seckill.common.broker.GatheringSockets;
import java.io.IOException;
import java.net.Socket;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The socket of one {@link PublisherChannel}, including a TLS socket, which is created elsewhere.
 */
final class LinkSocket implements SocketConfigurator {

  private static final Logger log = LoggerFactory.getLogger(LinkSocket.class);

  private final GatheringSockets writes = new GatheringSockets();
  private volatile @Nullable Socket socket;

  /** Creates the socket, except with TLS, and buffers its writes. */
  GatheringSockets writes() {
    return writes;
  }

  /** Receives the socket in use from the client. */
  @Override
  public void configure(Socket opened) {
    socket = opened;
  }

  /** Closes the socket, even while another thread reads or writes it. */
  void sever() {
    Socket current = socket;
    if (current != null) {
      try {
        current.setSoLinger(true, 0); // else a TLS socket waits for the thread that is writing
        current.close();
      } catch (IOException e) {
        log.debug("closing a broken socket: {}", e.toString());
      }
    }
  }
}
