package io.seckill.gateway.admission;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderTrail;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RequestBatcher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Executes {@code admit.lua} for a batch of purchases, followed by WAIT when replicas must confirm.
 * Thread-safe.
 */
final class AdmitCall implements RequestBatcher.Executor<Purchase> {

  private static final LuaScript SCRIPT = LuaScript.from(AdmitCall.class, "admit.lua");
  private static final int FIELDS = 6;
  private static final int HEAD = 3;

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final VerifiedServers servers;
  private final HighWaterMarks marks;
  private final IntFunction<@Nullable OrderId> orderIds;
  private final Runnable onOtherServer;
  private final SoldOutShield shield;
  private final int replicas;
  private final long replicasTimeoutMs;

  /**
   * @param orderIds returns a new id of a partition, unique over all gateways; null while this
   *     gateway holds no worker number
   * @param onOtherServer called when a batch reaches a server that is not verified
   * @param replicas replicas that must confirm, 0 for none
   */
  AdmitCall(
      UnifiedJedis redis,
      RedisBreaker breaker,
      VerifiedServers servers,
      HighWaterMarks marks,
      IntFunction<@Nullable OrderId> orderIds,
      Runnable onOtherServer,
      SoldOutShield shield,
      int replicas,
      Duration replicasTimeout) {
    this.redis = redis;
    this.breaker = breaker;
    this.servers = servers;
    this.marks = marks;
    this.orderIds = orderIds;
    this.onOtherServer = onOtherServer;
    this.shield = shield;
    this.replicas = replicas;
    this.replicasTimeoutMs = replicasTimeout.toMillis();
  }

  /**
   * @param confirmed whether enough replicas have received what the reply reports
   */
  private record Reply(Object value, boolean confirmed) {}

  @Override
  public void execute(int partition, List<Purchase> purchases) {
    // Read the server before making ids: it is verified only after it has confirmed the lease.
    String server = servers.replicationId(partition);
    List<OrderId> ids = server == null ? List.of() : ids(partition, purchases.size());
    if (server == null || ids.isEmpty()) {
      answerAll(purchases, server == null ? Unknown.UNVERIFIED : Unknown.NO_WORKER);
      return;
    }
    List<String> keys = List.of(RedisKeys.outbox(partition));
    List<String> args = arguments(partition, server, purchases, ids);
    try {
      long askedNanos = System.nanoTime();
      Reply reply =
          breaker.call(partition, () -> replicas == 0 ? call(keys, args) : callAndWait(keys, args));
      answer(partition, server, purchases, ids, reply, askedNanos);
    } catch (CallNotPermittedException e) {
      answerAll(purchases, Unknown.BREAKER);
      throw e;
    }
  }

  /** Returns an empty list when this gateway may not make ids. */
  private List<OrderId> ids(int partition, int count) {
    List<OrderId> ids = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      @Nullable OrderId id = orderIds.apply(partition);
      if (id == null) {
        return List.of();
      }
      ids.add(id);
    }
    return ids;
  }

  private List<String> arguments(
      int partition, String server, List<Purchase> purchases, List<OrderId> ids) {
    List<String> args = new ArrayList<>(HEAD + FIELDS * purchases.size());
    args.add(RedisKeys.prefix(partition));
    args.add(server);
    args.add(replicas == 0 ? "0" : "1");
    for (int i = 0; i < purchases.size(); i++) {
      PurchaseAttempt attempt = purchases.get(i).attempt();
      args.add(Long.toString(attempt.skuId()));
      args.add(Long.toString(attempt.userId()));
      args.add(attempt.requestId());
      args.add(Integer.toString(attempt.quantity()));
      args.add(ids.get(i).toString());
      args.add(attempt.traceparent() == null ? "" : attempt.traceparent());
    }
    return args;
  }

  private Reply call(List<String> keys, List<String> args) {
    return new Reply(SCRIPT.call(redis, keys, args), true);
  }

  private Reply callAndWait(List<String> keys, List<String> args) {
    try {
      return inPipeline(keys, pipeline -> SCRIPT.queue(pipeline, keys, args));
    } catch (JedisNoScriptException e) { // nothing ran; EVAL also loads the script
      return inPipeline(keys, pipeline -> pipeline.eval(SCRIPT.body(), keys, args));
    }
  }

  /** Uses one connection: WAIT covers only the writes of its own connection. */
  private Reply inPipeline(
      List<String> keys, Function<AbstractPipeline, Response<Object>> admission) {
    try (AbstractPipeline pipeline = redis.pipelined()) {
      Response<Object> reply = admission.apply(pipeline);
      Response<Long> confirmations =
          pipeline.waitReplicas(keys.get(0), replicas, replicasTimeoutMs);
      pipeline.sync();
      return new Reply(PipelineReplies.get(reply), PipelineReplies.get(confirmations) >= replicas);
    }
  }

  private void answer(
      int partition,
      String server,
      List<Purchase> purchases,
      List<OrderId> ids,
      Reply reply,
      long askedNanos) {
    if (reply.value() instanceof Long) {
      servers.otherServer(partition, server);
      onOtherServer.run();
      answerAll(purchases, Unknown.UNVERIFIED);
      return;
    }
    List<?> texts = (List<?>) reply.value();
    texts.subList(purchases.size(), texts.size()).forEach(text -> note(server, (String) text));
    for (int i = 0; i < purchases.size(); i++) {
      Admission outcome = ScriptReplies.read((String) texts.get(i), ids.get(i));
      if (outcome == Refusal.SOLD_OUT) {
        shield.raise(purchases.get(i).attempt().skuId(), askedNanos);
      }
      boolean promise =
          outcome instanceof Admission.Admitted || outcome instanceof Admission.Repeated;
      if (outcome instanceof Admission.Admitted && OrderTrail.isOn()) {
        PurchaseAttempt attempt = purchases.get(i).attempt();
        OrderTrail.mark(ids.get(i), attempt.skuId(), attempt.traceparent(), "admitted");
      }
      purchases.get(i).answer(promise && !reply.confirmed() ? Unknown.REPLICAS : outcome);
    }
  }

  /** Parses {@code sku|epoch|highest sequence}, sent once per SKU with an admission. */
  private void note(String server, String text) {
    int skuEnd = text.indexOf('|');
    int epochEnd = text.indexOf('|', skuEnd + 1);
    marks.record(
        server,
        Long.parseLong(text, 0, skuEnd, 10),
        Long.parseLong(text, skuEnd + 1, epochEnd, 10),
        Long.parseLong(text, epochEnd + 1, text.length(), 10));
  }

  private static void answerAll(List<Purchase> purchases, Admission outcome) {
    purchases.forEach(purchase -> purchase.answer(outcome));
  }
}
