package io.seckill.common.redis;

import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisNoScriptException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/** Reads the replies of a pipeline, from one server or from the nodes of a cluster. */
public final class PipelineReplies {

  private PipelineReplies() {}

  /**
   * The reply to one command, after {@code sync()}.
   *
   * @throws JedisConnectionException when a node of a cluster did not answer: its part of the
   *     pipeline has an unknown outcome. Jedis only logs this and leaves the response unset
   * @throws redis.clients.jedis.exceptions.JedisDataException when Redis answered with an error
   */
  public static <T> T get(Response<T> response) {
    try {
      return response.get();
    } catch (IllegalStateException unset) {
      throw new JedisConnectionException("a node of the cluster did not answer", unset);
    }
  }

  /**
   * Whether a script was not run: Redis no longer had it, or another node serves its slot. The
   * caller may then call it again, outside the pipeline.
   *
   * @throws redis.clients.jedis.exceptions.JedisException as {@link #get}
   */
  public static boolean wasNotRun(Response<?> script) {
    try {
      get(script);
      return false;
    } catch (JedisNoScriptException | JedisRedirectionException e) {
      return true;
    }
  }
}
