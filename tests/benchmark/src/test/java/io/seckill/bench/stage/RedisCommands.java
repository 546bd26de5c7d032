package io.seckill.bench.stage;

import io.seckill.bench.stage.OrderSteps.Step;
import io.seckill.testing.Bounded;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisMonitor;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * The commands of a Redis server with their times, as MONITOR reports them, and what they show of
 * orders. They are kept as text meanwhile, so that the observation costs little.
 */
final class RedisCommands implements AutoCloseable {

  private static final Pattern LINE = Pattern.compile("(\\d+)\\.(\\d{6}) \\[[^]]*] (.*)");
  private static final Pattern ORDER = Pattern.compile("\\\\\"orderId\\\\\":\\\\\"(\\d+)\\\\\"");
  private static final Pattern ID = Pattern.compile("\\d{17,19}");

  private final Jedis client;
  private final List<String> lines = new ArrayList<>();
  private final Thread thread = new Thread(this::watch, "redis-commands");
  private volatile boolean closed;

  private RedisCommands(Jedis client) {
    this.client = client;
    thread.setDaemon(true);
  }

  /**
   * @param client closed at the end
   */
  static RedisCommands watch(Jedis client) {
    RedisCommands commands = new RedisCommands(client);
    commands.thread.start();
    return commands;
  }

  private void watch() {
    try {
      client.monitor(
          new JedisMonitor() {
            @Override
            public void onCommand(String line) {
              synchronized (lines) {
                lines.add(line);
              }
            }
          });
    } catch (JedisConnectionException e) {
      if (!closed) {
        throw e;
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    client.disconnect();
    Bounded.join(thread);
  }

  /** Adds what the commands show; when an order was delivered must be known already. */
  void addTo(OrderSteps steps) {
    synchronized (lines) {
      addTo(steps, lines);
    }
  }

  static void addTo(OrderSteps steps, List<String> lines) {
    Map<Long, Long> delivered = steps.times(Step.DELIVERED);
    Map<String, NavigableSet<Long>> pops = new HashMap<>();
    Map<Long, Long> admitted = new HashMap<>();
    Map<Long, String> outboxes = new HashMap<>();
    for (String line : lines) {
      Matcher parts = LINE.matcher(line);
      if (!parts.matches()) {
        continue; // the reply to MONITOR
      }
      long micros =
          TimeUnit.SECONDS.toMicros(Long.parseLong(parts.group(1)))
              + Long.parseLong(parts.group(2));
      List<String> words = words(parts.group(3));
      String name = words.get(0);
      if (name.equals("LPUSH") && words.get(1).endsWith(":outbox")) {
        for (long order : orders(words)) {
          steps.reached(order, Step.ADMITTED, micros);
          admitted.put(order, micros);
          outboxes.put(order, words.get(1));
        }
      } else if (name.equals("LPUSH") && words.get(1).contains(":lane:")) {
        orders(words).forEach(order -> steps.reached(order, Step.CLAIMED, micros));
      } else if (name.equals("BRPOPLPUSH")) {
        pops.computeIfAbsent(words.get(1), outbox -> new TreeSet<>()).add(micros);
      } else if (name.equals("EVALSHA") && words.get(3).endsWith(":lanes")) {
        orders(words).forEach(order -> steps.reached(order, Step.CONFIRMED, micros)); // settle.lua
      } else if (name.equals("EVALSHA") && isOfResults(words)) {
        words.stream()
            .skip(6)
            .filter(word -> ID.matcher(word).matches())
            .forEach(word -> steps.reached(Long.parseLong(word), Step.COMMITTED, micros));
      }
    }
    admitted.forEach(
        (order, micros) -> {
          Long pop = popOf(pops.get(outboxes.get(order)), delivered.get(order));
          steps.reached(order, Step.CLAIMED, Math.max(micros, pop == null ? micros : pop));
        });
  }

  /**
   * The BRPOPLPUSH that took an order which no claim.lua took: the last before it was delivered. It
   * takes the order when that is admitted, or at once.
   */
  private static @Nullable Long popOf(@Nullable NavigableSet<Long> pops, @Nullable Long delivered) {
    return pops == null || delivered == null ? null : pops.floor(delivered);
  }

  /** record_results.lua has two keys, the hash of a SKU first, and then the prefix of the keys. */
  private static boolean isOfResults(List<String> words) {
    return words.size() > 9
        && words.get(2).equals("2")
        && words.get(5).endsWith("}:")
        && words.get(3).startsWith(words.get(5) + "sku:");
  }

  /** The words without their quotes; a quote or backslash inside has a backslash before it. */
  private static List<String> words(String command) {
    List<String> words = new ArrayList<>();
    int begin = command.indexOf('"');
    while (begin >= 0) {
      int end = begin + 1;
      while (command.charAt(end) != '"') {
        end += command.charAt(end) == '\\' ? 2 : 1;
      }
      words.add(command.substring(begin + 1, end));
      begin = command.indexOf('"', end + 1);
    }
    return words;
  }

  private static List<Long> orders(List<String> words) {
    return words.stream()
        .flatMap(word -> ORDER.matcher(word).results())
        .map(order -> Long.valueOf(order.group(1)))
        .toList();
  }
}
