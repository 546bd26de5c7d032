package io.seckill.gateway.admission;

import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.support.thread.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Subscribes to messages from Redis that a SKU's stock was 0 and no longer is, whichever process
 * returned the units. Uses a connection of its own. One thread listens; the other sends a heartbeat
 * every few seconds, because without it a dead connection looks like an idle one. A message missed
 * while the connection is down delays shoppers by at most the rest of the shield's lifetime.
 */
final class RestockNews implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(RestockNews.class);
  private static final long PAUSE_MS = 1_000;
  private static final long SIGN_OF_LIFE_MS = 3_000;
  private static final Duration LONGEST_SILENCE = Duration.ofSeconds(10);
  private static final long STOP_WAIT_MS = 1_000;

  private final RedisSettings settings;
  private final LongConsumer restocked;
  private final ScheduledExecutorService threads =
      Executors.newScheduledThreadPool(2, DaemonThreads.named("restock-news"));
  private volatile @Nullable Subscription subscription;
  private boolean away;

  /**
   * @param restocked called by a thread of this object, once per message, with the SKU
   */
  RestockNews(RedisSettings settings, LongConsumer restocked) {
    this.settings = settings.withMaxConnections(1).withBlockingSocketTimeout(LONGEST_SILENCE);
    this.restocked = restocked;
    repeat(this::listen, PAUSE_MS);
    repeat(this::askForSignOfLife, SIGN_OF_LIFE_MS);
  }

  private void repeat(Runnable work, long pauseMs) {
    var unused = threads.scheduleWithFixedDelay(work, 0, pauseMs, TimeUnit.MILLISECONDS);
  }

  /** Whether the subscription is active now. */
  boolean isListening() {
    Subscription current = subscription;
    return current != null && current.isSubscribed();
  }

  /** Returns when the connection breaks or the subscription ends. */
  private void listen() {
    try (UnifiedJedis redis = RedisClients.openForOneMaster(settings, "gateway-news")) {
      Subscription current = new Subscription();
      subscription = current;
      redis.subscribe(current, RedisKeys.RESTOCKED);
    } catch (JedisException e) {
      if (!away) { // log once, not at every attempt
        log.warn("restock subscription failed, shields end by lifetime only: {}", e.toString());
      }
      away = true;
    } catch (RuntimeException e) { // a throw would end the schedule
      log.error("listening for restocked SKUs failed", e);
    }
  }

  /**
   * Sends a heartbeat by subscribing again, which Redis confirms and which changes nothing. Jedis's
   * ping is not used because it breaks the subscription when the reply arrives before Jedis expects
   * it.
   */
  private void askForSignOfLife() {
    withSubscription(current -> current.subscribe(RedisKeys.RESTOCKED));
  }

  private void withSubscription(Consumer<JedisPubSub> work) {
    Subscription current = subscription;
    if (current != null && current.isSubscribed()) {
      try {
        work.accept(current);
      } catch (JedisException e) {
        log.debug("the connection broke: {}", e.toString()); // listen() logs it
      }
    }
  }

  /** Handles the messages of one connection. */
  private final class Subscription extends JedisPubSub {

    @Override
    public void onSubscribe(String channel, int channels) {
      away = false;
      if (threads.isShutdown()) { // close() came before there was a subscription to end
        unsubscribe();
      }
    }

    @Override
    public void onMessage(String channel, String sku) {
      if (sku.matches("\\d{1,18}")) {
        restocked.accept(Long.parseLong(sku));
      }
    }
  }

  /** Ends the threads; if Redis does not answer, the daemon threads are left running. */
  @Override
  public void close() {
    threads.shutdown();
    withSubscription(JedisPubSub::unsubscribe);
    try {
      if (!threads.awaitTermination(STOP_WAIT_MS, TimeUnit.MILLISECONDS)) {
        log.debug("redis did not end the subscription in time");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
