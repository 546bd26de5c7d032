package io.seckill.common.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * A script whose arguments and reply are bytes (integers stay Long): an outbox entry must be
 * published and removed by value even when it is not text.
 */
public final class BinaryScript {

  private final byte[] body;
  private final byte[] sha;

  private BinaryScript(LuaScript script) {
    this.body = bytes(script.body());
    this.sha = bytes(script.sha());
  }

  /** Reads {@code name} from the package of {@code owner}. */
  public static BinaryScript from(Class<?> owner, String name) {
    return new BinaryScript(LuaScript.from(owner, name));
  }

  /** All keys have one hash tag; there is at least one. */
  public List<Object> call(UnifiedJedis redis, List<byte[]> keys, List<byte[]> args) {
    try {
      return reply(redis.evalsha(sha, keys, args));
    } catch (JedisNoScriptException e) {
      return reply(redis.eval(body, keys, args)); // EVAL loads it; SCRIPT LOAD is not permitted
    }
  }

  /** Queues the call in a pipeline; read its answer with {@link #answer}, never with get(). */
  public Response<Object> queue(AbstractPipeline pipeline, List<byte[]> keys, List<byte[]> args) {
    return pipeline.evalsha(sha, keys, args);
  }

  /** The reply, after {@code sync()}; a call that was not run is repeated on its own. */
  public List<Object> answer(
      Response<Object> response, UnifiedJedis redis, List<byte[]> keys, List<byte[]> args) {
    return PipelineReplies.wasNotRun(response)
        ? call(redis, keys, args)
        : reply(PipelineReplies.get(response));
  }

  @SuppressWarnings("unchecked") // a list reply is a List<Object> in Jedis
  private static List<Object> reply(Object reply) {
    return reply instanceof List<?> list ? (List<Object>) list : List.of(reply);
  }

  /** UTF-8, as Jedis writes text. */
  public static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Decimal, as Redis reads numbers. */
  public static byte[] bytes(long number) {
    return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
  }
}
