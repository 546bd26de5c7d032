package io.seckill.common.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * A script from the class path, called by its SHA-1. A line {@code -- include bucket_of.lua} stands
 * for the file of that name in this package. Redis loses loaded scripts at restart, failover and
 * SCRIPT FLUSH. NOSCRIPT means that nothing ran; the script is then sent with EVAL, which also
 * loads it.
 */
public final class LuaScript {

  private static final Pattern INCLUDE = Pattern.compile("(?m)^-- include (\\S+)\\n");

  private final String body;
  private final String sha;

  /** The script as written, with include lines. */
  public LuaScript(String text) {
    this.body = INCLUDE.matcher(text).replaceAll(LuaScript::included);
    this.sha = sha1(body);
  }

  /**
   * Reads {@code name} from the package of {@code owner}.
   *
   * @throws IllegalArgumentException when there is no such resource
   */
  public static LuaScript from(Class<?> owner, String name) {
    return new LuaScript(read(owner, name));
  }

  private static String included(MatchResult include) {
    return Matcher.quoteReplacement(read(LuaScript.class, include.group(1)));
  }

  private static String read(Class<?> owner, String name) {
    try (InputStream in = owner.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalArgumentException("no script " + name + " beside " + owner.getName());
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * @param keys all of one hash tag, at least one
   * @return the script's reply as Jedis decodes it (Long, String, List)
   */
  public Object call(UnifiedJedis redis, List<String> keys, List<String> args) {
    try {
      return redis.evalsha(sha, keys, args);
    } catch (JedisNoScriptException e) {
      // EVAL loads it too; a flush could come between SCRIPT LOAD and a second EVALSHA.
      return redis.eval(body, keys, args);
    }
  }

  /** Queues the call in a pipeline; read its answer with {@link #answer}, never with get(). */
  public Response<Object> queue(AbstractPipeline pipeline, List<String> keys, List<String> args) {
    return pipeline.evalsha(sha, keys, args);
  }

  /**
   * The reply to a queued call, after {@code sync()}. A call that was not run is repeated on its
   * own, and so after the other commands of its pipeline.
   */
  public Object answer(
      Response<Object> response, UnifiedJedis redis, List<String> keys, List<String> args) {
    return PipelineReplies.wasNotRun(response)
        ? call(redis, keys, args)
        : PipelineReplies.get(response);
  }

  /** SHA-1 of the body, as EVALSHA expects it. */
  public String sha() {
    return sha;
  }

  /** The Lua source, with the included files. */
  public String body() {
    return body;
  }

  private static String sha1(String text) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-1");
      return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
