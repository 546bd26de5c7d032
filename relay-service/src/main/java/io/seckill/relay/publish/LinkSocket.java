package io.seckill.relay.publish;

import com.rabbitmq.client.SocketConfigurator;
import io.seckill.common.broker.GatheringSockets;
import java.io.IOException;
import java.net.Socket;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The socket of one {@link PublisherChannel}, also when it was made elsewhere, as that of TLS is.
 */
final class LinkSocket implements SocketConfigurator {

  private static final Logger log = LoggerFactory.getLogger(LinkSocket.class);

  private final GatheringSockets writes = new GatheringSockets();
  private volatile @Nullable Socket socket;

  /** Makes the socket, unless TLS does, and gathers its writes. */
  GatheringSockets writes() {
    return writes;
  }

  /** Learns of the socket in use. */
  @Override
  public void configure(Socket opened) {
    socket = opened;
  }

  /** Closes the socket under whoever reads or writes it. */
  void sever() {
    Socket current = socket;
    if (current != null) {
      try {
        current.close();
      } catch (IOException e) {
        log.debug("closing a broken socket: {}", e.toString());
      }
    }
  }
}
