package io.seckill.consumer.deadletter;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.ShutdownSignalException;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.consumer.runtime.Sleeps;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.consumer.storage.Barriers;
import io.seckill.consumer.storage.DatabaseWriteProbe;
import io.seckill.support.logging.ThrottledLog;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.AmqpException;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.connection.RabbitUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Moves messages from the dead queue into the table, where operators see them. One thread polls
 * once a second: dead letters are rare, and polling cannot run ahead of MySQL. A message is acked
 * after its COMMIT; a redelivered one finds its row.
 *
 * <p>A message that is fetched and requeued counts as delivered, and a quorum queue drops a message
 * that was delivered too often. So nothing is fetched before MySQL is known to accept writes; a
 * listener container would, and what it holds would be in no item of the ledger.
 */
@Component
class DeadLetterDrain {

  private static final Logger log = LoggerFactory.getLogger(DeadLetterDrain.class);

  private static final int MAX_BATCH = 100;

  /** Pause after messages were fetched and could not be stored, although MySQL accepts writes. */
  private static final Duration FAILURE_PAUSE = Duration.ofSeconds(10);

  /** A batch ends with the message that exceeds this; the broker bounds a single message. */
  private static final long MAX_BATCH_BYTES = 8L << 20;

  /** The queue is normally empty; an operator sees a dead letter soon enough. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  /** A second together: the broker applies an ack within milliseconds, an idle one. */
  private static final int MOST_LOOKS = 50;

  private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final ConnectionFactory broker;
  private final DeadLetterTable table;
  private final Barriers barriers;
  private final DatabaseWriteProbe probe;
  private final DataSource mysql;
  private final DeadLetterMeters meters;
  private final ThrottledLog failures = new ThrottledLog(log);
  private long resumeAtNanos = System.nanoTime();
  private boolean declared;

  DeadLetterDrain(
      ConnectionFactory broker,
      DeadLetterTable table,
      Barriers barriers,
      DatabaseWriteProbe probe,
      DataSource mysql,
      DeadLetterMeters meters) {
    this.broker = broker;
    this.table = table;
    this.barriers = barriers;
    this.probe = probe;
    this.mysql = mysql;
    this.meters = meters;
  }

  @Bean
  Sweeper deadLetterDrainer() {
    return new Sweeper("dead-letter-drain", PAUSE, this::drain);
  }

  /** Moves all messages of the queue; none while MySQL accepts no writes. */
  void drain() {
    if (System.nanoTime() - resumeAtNanos < 0) {
      return;
    }
    try {
      drainQueue();
    } catch (SQLException e) {
      failures.warn("Dead letters wait until MySQL accepts writes", e);
    } catch (IOException | TimeoutException | ShutdownSignalException | AmqpException e) {
      failures.warn("Cannot drain the dead queue now", e);
      declared = false;
    } catch (DataAccessException | TransactionException e) {
      failures.warn("Cannot store dead letters now", e);
      pause();
    } catch (RuntimeException e) {
      log.error("A defect keeps dead letters in their queue", e);
      pause();
    }
  }

  private void pause() {
    resumeAtNanos = System.nanoTime() + FAILURE_PAUSE.toNanos();
  }

  /**
   * The broker requeues unacked messages when the channel closes; a channel that found none is used
   * again.
   *
   * @throws SQLException when MySQL accepts no writes; nothing more was fetched from the queue
   */
  private void drainQueue() throws IOException, TimeoutException, SQLException {
    try (Channel channel = broker.createConnection().createChannel(false)) {
      declareOnce(channel);
      if (channel.messageCount(BrokerTopology.DEAD_QUEUE) == 0) {
        return;
      }
      RabbitUtils.setPhysicalCloseRequired(channel, true);
      List<GetResponse> fetched = new ArrayList<>();
      boolean isLeft = true;
      while (isLeft && !Thread.currentThread().isInterrupted()) {
        probe.probe(mysql);
        isLeft = moveBatch(channel, fetched) || !pass(channel, fetched);
      }
    }
  }

  /**
   * Records barriers as passed at a moment at which the queue has no message but them. At any other
   * one a dead letter before them may be in the queue again, or be fetched by another process and
   * no row yet: a quorum queue counts each message that was fetched, until it is acked, as a
   * consumer. Barriers that do not pass are requeued, and fetched again by the next sweep.
   *
   * @return false when there are messages to move before
   */
  boolean pass(Channel channel, List<GetResponse> fetched) throws IOException {
    for (int looks = 0; !fetched.isEmpty() && looks < MOST_LOOKS; looks++) {
      AMQP.Queue.DeclareOk queue = channel.queueDeclarePassive(BrokerTopology.DEAD_QUEUE);
      if (queue.getMessageCount() > 0) {
        return false;
      } else if (queue.getConsumerCount() == fetched.size()) {
        for (GetResponse barrier : fetched) {
          barriers.passed(barrier.getProps());
          channel.basicAck(barrier.getEnvelope().getDeliveryTag(), false);
        }
        return true;
      }
      Sleeps.nanos(LOOK_AGAIN_NANOS);
    }
    return true;
  }

  /**
   * Moves at most one batch; barriers are fetched and left to {@link #pass}.
   *
   * @param fetched gets the barriers
   * @return whether there may be more
   */
  boolean moveBatch(Channel channel, List<GetResponse> fetched) throws IOException {
    List<GetResponse> messages = new ArrayList<>();
    long bytes = 0;
    GetResponse message = null;
    while (messages.size() < MAX_BATCH
        && bytes < MAX_BATCH_BYTES
        && (message = channel.basicGet(BrokerTopology.DEAD_QUEUE, false)) != null) {
      (Barriers.isBarrier(message.getProps()) ? fetched : messages).add(message);
      bytes += message.getBody().length;
    }
    store(messages);
    for (GetResponse kept : messages) {
      channel.basicAck(kept.getEnvelope().getDeliveryTag(), false);
    }
    return message != null;
  }

  /** Again after every failure: the queue may have been deleted. */
  private void declareOnce(Channel channel) throws IOException {
    if (!declared) {
      BrokerTopology.declare(channel);
      declared = true;
    }
  }

  /** The publisher of a dead letter counts it; those that the broker dropped are counted here. */
  private void store(List<GetResponse> messages) {
    int dropped = 0;
    for (GetResponse message : messages) {
      for (DeadLetter letter : DeadLetterHeaders.readAll(message)) {
        table.keep(letter);
        dropped += letter.reason() == DeadLetterReason.DROPPED_BY_BROKER ? 1 : 0;
      }
    }
    meters.count(DeadLetterReason.DROPPED_BY_BROKER, dropped);
  }
}
