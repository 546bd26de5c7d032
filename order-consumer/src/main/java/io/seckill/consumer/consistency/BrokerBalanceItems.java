package io.seckill.consumer.consistency;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.consumer.runtime.BrokerConnections;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Reads how many messages the order queues hold, over a connection of its own. The broker reports
 * the ready messages, the consumers report the unacked ones (ADR 6). Thread-safe.
 */
@Component
class BrokerBalanceItems {

  private static final Logger log = LoggerFactory.getLogger(BrokerBalanceItems.class);
  private static final int ABORT_MS = 1_000;

  private final BrokerConnections connections;
  private final UnackedBoard board;
  private @Nullable Connection connection;
  private @Nullable Channel channel;
  private boolean unavailable;

  BrokerBalanceItems(BrokerConnections connections, UnackedBoard board) {
    this.connections = connections;
    this.board = board;
  }

  /**
   * Reads ready first, then unacked: a message delivered in between is counted twice, not missed.
   *
   * @return empty when the broker does not answer, or has no such queue
   */
  Optional<QueueBalanceItems> read(String queue) {
    Optional<Long> ready = ready(queue);
    return ready.map(count -> new QueueBalanceItems(queue, count, board.unacked(queue)));
  }

  /** Dead letters in the queue that are not rows of {@code dead_letter} yet; empty as above. */
  Optional<Long> deadQueue() {
    return ready(BrokerTopology.DEAD_QUEUE);
  }

  private synchronized Optional<Long> ready(String queue) {
    try {
      long ready = channel().messageCount(queue);
      unavailable = false;
      return Optional.of(ready);
    } catch (IOException | ShutdownSignalException e) {
      if (!unavailable) {
        log.warn("Cannot read how many messages queue {} holds: {}", queue, e.toString());
      }
      unavailable = true;
      disconnect();
      return Optional.empty();
    }
  }

  private Channel channel() throws IOException {
    Channel open = channel;
    if (open != null && open.isOpen()) {
      return open;
    }
    disconnect();
    Connection opened = connections.open("ledger");
    connection = opened;
    Channel created = opened.createChannel();
    channel = created;
    return created;
  }

  @PreDestroy
  synchronized void disconnect() {
    Connection open = connection;
    connection = null;
    channel = null;
    if (open != null) {
      open.abort(ABORT_MS);
    }
  }
}
