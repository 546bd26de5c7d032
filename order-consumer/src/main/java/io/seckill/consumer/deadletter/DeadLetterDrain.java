package io.seckill.consumer.deadletter;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.ShutdownSignalException;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.consumer.runtime.BrokerConnections;
import io.seckill.consumer.storage.Barriers;
import io.seckill.consumer.storage.DatabaseWriteProbe;
import jakarta.annotation.PreDestroy;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Moves messages from the dead queue into the table, where operators see them. One thread polls
 * once a second: dead letters are rare, and polling cannot run ahead of MySQL. A message is acked
 * after its COMMIT; a redelivered one finds its row.
 *
 * <p>A message that is fetched and requeued counts as delivered, and a quorum queue drops a message
 * that was delivered too often. So nothing is fetched before MySQL is known to accept writes.
 */
@Component
class DeadLetterDrain {

  private static final Logger log = LoggerFactory.getLogger(DeadLetterDrain.class);

  private static final int MAX_BATCH = 100;

  /** Pause after messages were fetched and could not be stored, although MySQL accepts writes. */
  private static final Duration FAILURE_PAUSE = Duration.ofSeconds(10);

  /** A batch ends with the message that exceeds this; the broker bounds a single message. */
  private static final long MAX_BATCH_BYTES = 8L << 20;

  private final BrokerConnections connections;
  private final DeadLetterTable table;
  private final Barriers barriers;
  private final DatabaseWriteProbe probe;
  private final DataSource mysql;
  private final DeadLetterMeters meters;
  private long resumeAtNanos = System.nanoTime();
  private @Nullable Connection connection;
  private @Nullable Channel channel;

  DeadLetterDrain(
      BrokerConnections connections,
      DeadLetterTable table,
      Barriers barriers,
      DatabaseWriteProbe probe,
      DataSource mysql,
      DeadLetterMeters meters) {
    this.connections = connections;
    this.table = table;
    this.barriers = barriers;
    this.probe = probe;
    this.mysql = mysql;
    this.meters = meters;
  }

  /** Moves all messages of the queue; none while MySQL accepts no writes. */
  void drain() {
    if (System.nanoTime() - resumeAtNanos < 0) {
      return;
    }
    try {
      while (drainBatch() && !Thread.currentThread().isInterrupted()) {
        log.info("Moved dead letters, there may be more");
      }
    } catch (SQLException e) {
      log.warn("Dead letters wait until MySQL accepts writes: {}", e.getMessage());
    } catch (IOException | ShutdownSignalException e) {
      log.warn("Cannot drain the dead queue now: {}", e.toString());
      disconnect();
    } catch (DataAccessException | TransactionException e) {
      log.warn("Cannot store dead letters now: {}", e.toString());
      disconnectAndPause();
    } catch (RuntimeException e) {
      log.error("A defect keeps dead letters in their queue", e);
      disconnectAndPause();
    }
  }

  private void disconnectAndPause() {
    disconnect();
    resumeAtNanos = System.nanoTime() + FAILURE_PAUSE.toNanos();
  }

  /**
   * Moves at most one batch.
   *
   * @return true when the batch was full
   * @throws SQLException when MySQL accepts no writes; nothing was fetched from the queue
   */
  private boolean drainBatch() throws IOException, SQLException {
    Channel open = channel();
    if (open.messageCount(BrokerTopology.DEAD_QUEUE) == 0) {
      return false;
    }
    probe.probe(mysql);
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
      List<GetResponse> deadLetters = messages.stream().filter(m -> !isBarrier(m)).toList();
      if (!deadLetters.isEmpty()) {
        keep(deadLetters.stream().map(DrainedMessage::of).toList());
      }
      barriers.passed(
          messages.stream().filter(DeadLetterDrain::isBarrier).map(GetResponse::getProps).toList());
      for (GetResponse kept : messages) {
        open.basicAck(kept.getEnvelope().getDeliveryTag(), false);
      }
    }
    return message != null;
  }

  /** The publisher of a dead letter counts it; those that the broker dropped are counted here. */
  private void keep(List<DeadLetter> deadLetters) {
    table.keep(deadLetters);
    deadLetters.stream()
        .map(DeadLetter::reason)
        .filter(DeadLetterReason.DROPPED_BY_BROKER::equals)
        .forEach(meters::count);
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

  /** Closes the connection; the broker requeues what is not acked. */
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
