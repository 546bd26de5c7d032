package io.seckill.consumer.ledger;

import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.intake.DeliveriesInHand;
import io.seckill.consumer.runtime.Sleeps;
import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.AmqpException;
import org.springframework.amqp.core.AmqpAdmin;
import org.springframework.amqp.core.QueueInformation;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.SetParams;

/**
 * Reads how many messages the order queues hold. The broker reports the ready messages, the
 * consumers report the unacked ones: the management API would need another user and address, and
 * its samples are up to 5 s old. Thread-safe.
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

  /**
   * What one order queue holds.
   *
   * @param ready messages
   * @param unacked orders
   */
  record Messages(long ready, long unacked) {}

  /**
   * Reads ready first, then unacked: a message delivered in between is counted twice, not missed.
   * Returns empty when the broker does not answer, has no such queue or may not have read it, or
   * Redis does not answer.
   */
  Optional<Messages> read(String queue) {
    Optional<Messages> found =
        ready(queue)
            .flatMap(ready -> board.unacked(queue).map(unacked -> new Messages(ready, unacked)));
    if (found.isEmpty() && !unavailable) {
      log.warn("Cannot read how many messages queue {} holds", queue);
    }
    unavailable = found.isEmpty();
    return found;
  }

  /** A queue that only seems empty has no consumer either (facts.md 49). */
  private Optional<Long> ready(String queue) {
    try {
      QueueInformation found = broker.getQueueInfo(queue);
      return found == null || (found.getMessageCount() == 0 && found.getConsumerCount() == 0)
          ? Optional.empty()
          : Optional.of(found.getMessageCount());
    } catch (AmqpException e) {
      log.debug("The broker does not answer", e);
      return Optional.empty();
    }
  }

  /**
   * Shares the number of unsettled orders between the consumer processes. The active consumer of a
   * queue writes its number to Redis several times a second; the key expires soon after its writer
   * stops. Thread-safe.
   */
  @Component
  static class UnackedBoard {

    static final Duration POST_INTERVAL = Duration.ofMillis(250);

    private static final Duration NOTE_LIFE = Duration.ofSeconds(2);

    /** Two post intervals and a margin. */
    private static final Duration FRESH_WITHIN = Duration.ofMillis(600);

    private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final DeliveriesInHand inHand;
    private final UnifiedJedis redis;
    private final AtomicLong posts = new AtomicLong(System.nanoTime());

    UnackedBoard(DeliveriesInHand inHand, UnifiedJedis redis) {
      this.inHand = inHand;
      this.redis = redis;
    }

    @Bean
    Sweeper unackedPost() {
      return new Sweeper("unacked-post", POST_INTERVAL, this::post);
    }

    /** Publishes the numbers of this process. While Redis is down, no process can ask for them. */
    void post() {
      long post = posts.incrementAndGet();
      SetParams life = SetParams.setParams().px(NOTE_LIFE.toMillis());
      Map<String, String> notes = new HashMap<>();
      inHand.unacked().forEach((queue, n) -> notes.put(RedisKeys.unacked(queue), n + ":" + post));
      try {
        if (notes.size() > 1 && !RedisClients.areApart(redis)) {
          setTogether(notes, life);
        } else {
          notes.forEach((key, note) -> redis.set(key, note, life));
        }
      } catch (JedisException e) {
        log.debug("Cannot publish the number of unsettled orders", e);
      }
    }

    private void setTogether(Map<String, String> notes, SetParams life) {
      try (AbstractPipeline pipeline = redis.pipelined()) {
        notes.forEach((key, note) -> pipeline.set(key, note, life));
        pipeline.sync();
      }
    }

    /**
     * Returns the number of unsettled orders of a queue, counted after this call began. Waits up to
     * 600 ms when another process holds them; 0 when no process does, empty when Redis does not
     * answer, takes no writes, so that another process could not write its number, or has an
     * unreadable key.
     */
    Optional<Long> unacked(String queue) {
      Long here = inHand.unacked().get(queue);
      try {
        return Optional.of(here != null ? here : elsewhere(queue));
      } catch (JedisException | NumberFormatException e) {
        log.debug("Cannot read the number of unsettled orders", e);
        return Optional.empty();
      }
    }

    private long elsewhere(String queue) {
      long deadline = System.nanoTime() + FRESH_WITHIN.toNanos();
      String before = note(queue);
      String now = before;
      while (now != null && Objects.equals(now, before) && System.nanoTime() - deadline < 0) {
        Sleeps.nanos(LOOK_AGAIN_NANOS);
        if (Thread.currentThread().isInterrupted()) {
          break;
        }
        now = note(queue);
      }
      if (now == null) {
        requireWrites(queue);
        return 0;
      }
      return Long.parseLong(now.replaceFirst(":.*", ""));
    }

    /** Where Redis takes writes, this does nothing, as there is no such key. */
    private void requireWrites(String queue) {
      SetParams ifPresent = SetParams.setParams().xx().px(NOTE_LIFE.toMillis());
      var unused = redis.set(RedisKeys.unacked(queue), "", ifPresent);
    }

    private @Nullable String note(String queue) {
      return redis.get(RedisKeys.unacked(queue));
    }
  }
}
