package io.seckill.testing;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.StreamSupport;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.CommandObject;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.executors.CommandExecutor;
import redis.clients.jedis.providers.ConnectionProvider;

/** A client without a server: a function answers the commands, and the round trips are counted. */
public final class CannedRedis extends UnifiedJedis {

  private final Canned connection;

  /**
   * @param answer of a command with its arguments: text, Long or a list, or the error reply
   */
  public CannedRedis(Function<List<String>, Object> answer) {
    this(new Canned(answer));
  }

  @SuppressWarnings("deprecation") // the other constructors connect
  private CannedRedis(Canned connection) {
    super(connection);
    this.connection = connection;
  }

  /** A client of a cluster without servers; it has no pipelines. */
  public static RedisClusterClient cluster(Function<List<String>, Object> answer) {
    Canned connection = new Canned(answer);
    return RedisClusterClient.builder()
        .nodes(Set.of(new HostAndPort("127.0.0.1", 1)))
        .connectionProvider(connection)
        .commandExecutor(connection)
        .build();
  }

  @Override
  public AbstractPipeline pipelined() {
    return new Pipeline(connection, false);
  }

  /** The keys that a call of a script names. */
  public static List<String> keysOf(List<String> evalsha) {
    return evalsha.subList(3, 3 + Integer.parseInt(evalsha.get(2)));
  }

  /** Calls so far; a pipeline is one. */
  public int roundTrips() {
    return connection.roundTrips.get();
  }

  /** For one pipeline at a time. */
  private static final class Canned extends Connection
      implements ConnectionProvider, CommandExecutor {

    private final Function<List<String>, Object> answer;
    private final AtomicInteger roundTrips = new AtomicInteger();
    private final List<Object> queued = new ArrayList<>();

    Canned(Function<List<String>, Object> answer) {
      this.answer = answer;
    }

    private Object answer(CommandArguments command) {
      return raw(
          answer.apply(
              StreamSupport.stream(command.spliterator(), false)
                  .map(argument -> new String(argument.getRaw(), StandardCharsets.UTF_8))
                  .toList()));
    }

    @Override
    public Connection getConnection() {
      return this;
    }

    @Override
    public Connection getConnection(CommandArguments command) {
      return this;
    }

    /** As Jedis reads it. */
    private static Object raw(Object reply) {
      if (reply instanceof List<?> list) {
        return list.stream().map(Canned::raw).toList();
      }
      return reply instanceof String text ? text.getBytes(StandardCharsets.UTF_8) : reply;
    }

    @Override
    public <T> T executeCommand(CommandObject<T> command) {
      roundTrips.incrementAndGet();
      Object reply = answer(command.getArguments());
      if (reply instanceof JedisDataException error) {
        throw error;
      }
      return command.getBuilder().build(reply);
    }

    @Override
    public void sendCommand(CommandArguments command) {
      queued.add(answer(command));
    }

    @Override
    public List<Object> getMany(int count) {
      roundTrips.incrementAndGet();
      List<Object> replies = List.copyOf(queued);
      queued.clear();
      return replies;
    }

    @Override
    public void close() {}
  }
}
