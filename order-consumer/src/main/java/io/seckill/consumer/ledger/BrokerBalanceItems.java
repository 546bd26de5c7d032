package io.seckill.consumer.ledger;

import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.AmqpException;
import org.springframework.amqp.core.AmqpAdmin;
import org.springframework.amqp.core.QueueInformation;
import org.springframework.stereotype.Component;

/**
 * Reads how many messages the order queues hold. The broker reports the ready messages, the
 * consumers report the unacked ones (ADR 6). Thread-safe.
 */
@Component
class BrokerBalanceItems {

  private static final Logger log = LoggerFactory.getLogger(BrokerBalanceItems.class);

  private final AmqpAdmin broker;
  private final UnackedBoard board;
  private volatile boolean unavailable;

  BrokerBalanceItems(AmqpAdmin broker, UnackedBoard board) {
    this.broker = broker;
    this.board = board;
  }

  /** The messages of one order queue. */
  record Messages(long ready, long unacked) {}

  /**
   * Reads ready first, then unacked: a message delivered in between is counted twice, not missed.
   *
   * @return empty when the broker does not answer, or has no such queue
   */
  Optional<Messages> read(String queue) {
    Optional<Long> ready = ready(queue);
    if (ready.isEmpty() && !unavailable) {
      log.warn("Cannot read how many messages queue {} holds", queue);
    }
    unavailable = ready.isEmpty();
    return ready.map(count -> new Messages(count, board.unacked(queue)));
  }

  private Optional<Long> ready(String queue) {
    try {
      QueueInformation found = broker.getQueueInfo(queue);
      return found == null ? Optional.empty() : Optional.of(found.getMessageCount());
    } catch (AmqpException e) {
      log.debug("The broker does not answer", e);
      return Optional.empty();
    }
  }
}
