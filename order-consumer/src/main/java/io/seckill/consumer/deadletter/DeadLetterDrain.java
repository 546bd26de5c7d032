package io.seckill.consumer.deadletter;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.ShutdownSignalException;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.consumer.barrier.Barriers;
import io.seckill.consumer.broker.BrokerConnections;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Moves messages from the dead queue into the table, where operators see them. One thread asks once
 * a second; dead letters are rare, and this cannot run ahead of MySQL. A message is acked after its
 * COMMIT; one that comes twice finds its row.
 */
@Component
class DeadLetterDrain {

  private static final Logger log = LoggerFactory.getLogger(DeadLetterDrain.class);

  private static final int MAX_BATCH = 100;

  /** A batch ends with the message that exceeds it; the broker bounds a single one. */
  private static final long MAX_BATCH_BYTES = 8L << 20;

  private final BrokerConnections connections;
  private final DeadLetterTable table;
  private final Barriers barriers;
  private @Nullable Connection connection;
  private @Nullable Channel channel;

  DeadLetterDrain(BrokerConnections connections, DeadLetterTable table, Barriers barriers) {
    this.connections = connections;
    this.table = table;
    this.barriers = barriers;
  }

  /** Moves all that is there. */
  void drain() {
    try {
      while (drainBatch() && !Thread.currentThread().isInterrupted()) {
        log.info("Moved dead letters, there may be more");
      }
    } catch (IOException | ShutdownSignalException | DataAccessException | TransactionException e) {
      log.warn("Cannot drain the dead queue now: {}", e.toString());
      disconnect();
    } catch (RuntimeException e) {
      log.error("A defect keeps dead letters in their queue", e);
      disconnect();
    }
  }

  /**
   * Moves what is there, up to a batch.
   *
   * @return true when it was a full batch
   */
  private boolean drainBatch() throws IOException {
    Channel open = channel();
    List<GetResponse> messages = new ArrayList<>();
    long bytes = 0;
    GetResponse message = null;
    while (messages.size() < MAX_BATCH
        && bytes < MAX_BATCH_BYTES
        && (message = open.basicGet(BrokerTopology.DEAD_QUEUE, false)) != null) {
      messages.add(message);
      bytes += message.getBody().length;
    }
    if (!messages.isEmpty()) {
      List<GetResponse> letters = messages.stream().filter(m -> !isBarrier(m)).toList();
      if (!letters.isEmpty()) {
        table.keep(letters.stream().map(DrainedLetter::of).toList());
      }
      barriers.passed(
          messages.stream().filter(DeadLetterDrain::isBarrier).map(GetResponse::getProps).toList());
      for (GetResponse kept : messages) {
        open.basicAck(kept.getEnvelope().getDeliveryTag(), false);
      }
    }
    return message != null;
  }

  private static boolean isBarrier(GetResponse message) {
    return Barriers.isBarrier(message.getProps());
  }

  private Channel channel() throws IOException {
    Channel current = channel;
    if (current != null && current.isOpen()) {
      return current;
    }
    disconnect();
    Connection opened = connections.open("drain of dead letters");
    connection = opened;
    Channel created = opened.createChannel();
    BrokerTopology.declare(created);
    channel = created;
    return created;
  }

  /** What is unsettled goes back to the queue. */
  @PreDestroy
  void disconnect() {
    Connection open = connection;
    if (open != null) {
      open.abort(1_000);
    }
    connection = null;
    channel = null;
  }
}
