package io.seckill.consumer.storage;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.consumer.runtime.ConfirmingPublisher;
import io.seckill.consumer.runtime.Sleeps;
import io.seckill.consumer.runtime.Sql;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Publishes barrier messages and checks whether they have passed. A barrier takes the same path as
 * an order: first the order queue, where the consumer forwards it only when every delivery before
 * it is settled, and then the dead queue, where an order may have gone instead of MySQL. A lost or
 * duplicated barrier affects no order: a lost one never passes, a duplicated one passes twice. A
 * barrier blocks no other message, so a process that dies half way leaves nothing blocked.
 * Thread-safe.
 */
@Component
public class Barriers {

  private static final String TYPE = "barrier.v1";
  private static final byte[] NO_BODY = new byte[0];
  private static final Duration POLL = Duration.ofMillis(50);

  /**
   * Barriers have random numbers of up to 18 digits: AUTO_INCREMENT repeats those that MySQL has
   * lost, and a former barrier, still under way, would then pass for a new one.
   */
  private static final long NUMBERS = 1_000_000_000_000_000_000L;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final JdbcClient jdbc;
  private final ConfirmingPublisher publisher;

  Barriers(JdbcClient jdbc, ConfirmingPublisher publisher) {
    this.jdbc = jdbc;
    this.publisher = publisher;
  }

  /** Whether a message is a barrier rather than an order. */
  public static boolean isBarrier(BasicProperties properties) {
    return TYPE.equals(properties.getType());
  }

  /**
   * Sends a barrier behind every message that the broker has confirmed for this partition's queue,
   * and waits until the barrier has passed.
   *
   * @param atMost longest wait, including the publisher confirm
   * @return false when it has not passed in time: nothing is proven, and the caller may send
   *     another
   */
  public boolean pass(int partition, Duration atMost) {
    long deadline = System.nanoTime() + atMost.toNanos();
    OptionalLong barrier = send(partition);
    return barrier.isPresent() && awaitPassed(barrier.getAsLong(), deadline);
  }

  /**
   * Sends a barrier as {@link #pass} does, without waiting until it has passed. Returns its number,
   * for {@link #havePassed}; empty when the broker has not confirmed it.
   */
  public OptionalLong send(int partition) {
    long barrier = raise();
    boolean confirmed =
        publisher.publishAndWait(
            BrokerTopology.ORDERS_EXCHANGE,
            BrokerTopology.routingKey(partition),
            new BasicProperties.Builder().type(TYPE).messageId(Long.toString(barrier)).build(),
            NO_BODY);
    return confirmed ? OptionalLong.of(barrier) : OptionalLong.empty();
  }

  /** Inserts a row for a barrier; rows are of no use after a day and are then deleted. */
  private long raise() {
    jdbc.sql("DELETE FROM barrier WHERE raised_at < NOW(6) - INTERVAL 1 DAY").update();
    long barrier = RANDOM.nextLong(1, NUMBERS);
    jdbc.sql("INSERT INTO barrier (barrier_id) VALUES (?)").param(barrier).update();
    return barrier;
  }

  /**
   * Returns for each of these barriers whether it has passed: every message before it is in MySQL.
   * One whose row is deleted never will, and is missing.
   */
  public Map<Long, Boolean> havePassed(Collection<Long> barriers) {
    return barriers.isEmpty()
        ? Map.of()
        : jdbc.sql(
                "SELECT barrier_id, passed_at IS NOT NULL FROM barrier"
                    + " WHERE barrier_id IN (:barriers)")
            .param("barriers", barriers)
            .query(Sql.map(row -> row.getLong(1), row -> row.getBoolean(2)));
  }

  private boolean awaitPassed(long barrier, long deadline) {
    while (!havePassed(List.of(barrier)).containsValue(true)) {
      if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      Sleeps.nanos(POLL.toNanos());
    }
    return true;
  }

  /**
   * Forwards a barrier from its order queue to the dead queue. The caller has settled every
   * delivery before it.
   *
   * @return completes with true once the broker has confirmed the forwarded barrier; only then may
   *     the original be acked
   */
  public CompletableFuture<Boolean> forward(BasicProperties barrier) {
    return publisher.publish(
        BrokerTopology.DEAD_EXCHANGE, BrokerTopology.DEAD_ROUTING_KEY, barrier, NO_BODY);
  }

  /** Records that this barrier has passed through both queues. */
  public void passed(BasicProperties barrier) {
    String id = barrier.getMessageId();
    if (id != null && id.matches("\\d{1,18}")) {
      jdbc.sql("UPDATE barrier SET passed_at = NOW(6) WHERE barrier_id = ? AND passed_at IS NULL")
          .param(Long.parseLong(id))
          .update();
    }
  }
}
