package io.seckill.gateway.admission;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.admission.AdmitRequests.AdmitRequest;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.relay.lane.LaneMailbox.Reservation;
import java.util.List;
import java.util.function.Function;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Decides a batch of purchases with one call of {@code admit.lua}, followed by WAIT when replicas
 * must confirm. Thread-safe.
 */
record AdmitCall(
    UnifiedJedis redis,
    RedisBreaker breaker,
    Durability durability,
    AdmitRequests requests,
    AdmitAnswers answers,
    AdmissionMetrics metrics)
    implements RequestBatcher.Executor<Purchase> {

  private static final LuaScript SCRIPT = LuaScript.from(AdmitCall.class, "admit.lua");

  /** {@code confirmed}: enough replicas have received the writes that the reply reports. */
  private record Reply(Object value, boolean confirmed) {}

  @Override
  public void execute(List<Purchase> purchases) {
    metrics.sent(purchases.size());
    AdmitRequest request = requests.of(purchases);
    if (request == null) {
      return;
    }
    long askedNanos = System.nanoTime();
    try {
      Reply unread = breaker.write(request.partitions().get(0), () -> call(request));
      AdmitReply reply = AdmitReply.parse(unread.value(), unread.confirmed(), request.ids());
      answers.answer(request, reply, askedNanos);
    } catch (CallNotPermittedException e) {
      request.endReservations(reservation -> reservation.deliver(List.of()));
      request.answerAll(Unknown.BREAKER);
      throw e;
    } catch (RuntimeException | Error e) {
      request.endReservations(Reservation::unknown);
      throw e;
    }
  }

  private Reply call(AdmitRequest request) {
    List<String> keys = request.keys();
    List<String> args = request.args();
    if (durability.replicas() == 0) {
      return new Reply(SCRIPT.call(redis, keys, args), true);
    }
    try {
      return callAndWait(keys, pipeline -> SCRIPT.queue(pipeline, keys, args));
    } catch (JedisNoScriptException e) { // nothing ran; EVAL also loads the script
      return callAndWait(keys, pipeline -> pipeline.eval(SCRIPT.body(), keys, args));
    }
  }

  /** Uses one connection: WAIT covers only the writes of its own connection. */
  private Reply callAndWait(
      List<String> keys, Function<AbstractPipeline, Response<Object>> admission) {
    try (AbstractPipeline pipeline = redis.pipelined()) {
      Response<Object> reply = admission.apply(pipeline);
      Response<Long> confirmations =
          pipeline.waitReplicas(keys.get(0), durability.replicas(), durability.within().toMillis());
      pipeline.sync();
      return new Reply(
          PipelineReplies.get(reply), PipelineReplies.get(confirmations) >= durability.replicas());
    }
  }
}
