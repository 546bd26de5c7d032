package io.seckill.bench.baseline;

import io.seckill.common.order.OrderId;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.process.Service;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipFile;
import redis.clients.jedis.UnifiedJedis;

/** The gateway's {@code admit.lua}, read from its executable jar. */
final class AdmitScript {

  private static final String ENTRY = "BOOT-INF/classes/io/seckill/gateway/admission/admit.lua";
  private static final String REPLICATION_ID = "master_replid:";

  private final UnifiedJedis redis;
  private final String sha;
  private final String server;

  private AdmitScript(UnifiedJedis redis, String sha, String server) {
    this.redis = redis;
    this.sha = sha;
    this.server = server;
  }

  /** Loads it into a Redis. */
  static AdmitScript loadInto(UnifiedJedis redis) {
    return new AdmitScript(redis, redis.scriptLoad(body()), replicationId(redis));
  }

  String sha() {
    return sha;
  }

  /**
   * Returns the arguments of EVALSHA after the SHA-1 and the number of keys: the key, then those of
   * all purchases.
   */
  List<String> callOf(int partition, List<String> purchases) {
    List<String> call = new ArrayList<>();
    call.add(RedisKeys.outbox(partition));
    call.add(server);
    call.add("0");
    call.add(""); // no lease: to the outbox
    call.addAll(purchases);
    return call;
  }

  /** The arguments for one purchase of one unit. */
  static List<String> purchase(String skuId, String userId, String key, String orderId) {
    return List.of("1", skuId, userId, key, "1", orderId, "", "0");
  }

  /**
   * @return the script's reply for the one purchase
   */
  String admit(int partition, long skuId, long userId, String key, OrderId orderId) {
    List<String> call =
        callOf(partition, purchase("" + skuId, "" + userId, key, orderId.toString()));
    Object replies = redis.evalsha(sha, call.subList(0, 1), call.subList(1, call.size()));
    return String.valueOf(((List<?>) replies).get(0));
  }

  private static String replicationId(UnifiedJedis redis) {
    String info = redis.info("replication");
    int from = info.indexOf(REPLICATION_ID) + REPLICATION_ID.length();
    return info.substring(from, info.indexOf('\r', from));
  }

  private static String body() {
    try (ZipFile jar = new ZipFile(Service.GATEWAY.jar().toFile());
        InputStream in = jar.getInputStream(jar.getEntry(ENTRY))) {
      return new LuaScript(new String(in.readAllBytes(), StandardCharsets.UTF_8)).body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
