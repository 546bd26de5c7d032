package io.seckill.gateway.admission;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.admission.Admission.Cause;
import io.seckill.gateway.admission.Admission.Refused;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.redis.RedisBreaker;
import io.seckill.gateway.redis.RequestBatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import redis.clients.jedis.UnifiedJedis;

/**
 * Executes {@code seen.lua} for purchases of a shielded SKU. A repeat gets its first answer, other
 * purchases are refused while stock is still 0, and all other cases are forwarded to admission.
 * Thread-safe.
 */
final class DuplicateLookup implements RequestBatcher.Executor<Purchase> {

  private static final LuaScript SCRIPT = LuaScript.from(DuplicateLookup.class, "seen.lua");
  private static final int FIELDS = 4;
  private static final int HEAD = 2;
  private static final Admission SOLD_OUT = new Refused(Refusal.SOLD_OUT);
  private static final Admission KEY_REUSED = new Refused(Refusal.IDEMPOTENCY_KEY_REUSED);
  private static final Admission UNVERIFIED = new Unknown(Cause.UNVERIFIED);
  private static final Admission BREAKER = new Unknown(Cause.BREAKER);

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final VerifiedServers servers;
  private final Runnable onOtherServer;
  private final SoldOutShield shield;
  private final boolean replicasConfirm;
  private final Consumer<Purchase> admission;

  /**
   * @param replicasConfirm whether replicas must confirm a positive answer: only admission can wait
   *     for them, so repeats are forwarded to it, too
   * @param admission receives the purchases that need the full decision
   */
  DuplicateLookup(
      UnifiedJedis redis,
      RedisBreaker breaker,
      VerifiedServers servers,
      Runnable onOtherServer,
      SoldOutShield shield,
      boolean replicasConfirm,
      Consumer<Purchase> admission) {
    this.redis = redis;
    this.breaker = breaker;
    this.servers = servers;
    this.onOtherServer = onOtherServer;
    this.shield = shield;
    this.replicasConfirm = replicasConfirm;
    this.admission = admission;
  }

  @Override
  public void execute(int partition, List<Purchase> purchases) {
    String server = servers.replicationId(partition);
    if (server == null) {
      purchases.forEach(purchase -> purchase.answer(UNVERIFIED));
      return;
    }
    List<String> keys = List.of(RedisKeys.outbox(partition));
    List<String> args = arguments(partition, server, purchases);
    try {
      long askedNanos = System.nanoTime();
      Object reply = breaker.call(partition, () -> SCRIPT.call(redis, keys, args));
      if (reply instanceof Long) {
        servers.otherServer(partition, server);
        onOtherServer.run();
        purchases.forEach(purchase -> purchase.answer(UNVERIFIED));
      } else {
        answer(purchases, (List<?>) reply, askedNanos);
      }
    } catch (CallNotPermittedException e) {
      purchases.forEach(purchase -> purchase.answer(BREAKER));
      throw e;
    }
  }

  private static List<String> arguments(int partition, String server, List<Purchase> purchases) {
    List<String> args = new ArrayList<>(HEAD + FIELDS * purchases.size());
    args.add(RedisKeys.prefix(partition));
    args.add(server);
    for (Purchase purchase : purchases) {
      PurchaseAttempt attempt = purchase.attempt();
      args.add(Long.toString(attempt.skuId()));
      args.add(Long.toString(attempt.userId()));
      args.add(attempt.requestId());
      args.add(Integer.toString(attempt.quantity()));
    }
    return args;
  }

  private void answer(List<Purchase> purchases, List<?> replies, long askedNanos) {
    for (int i = 0; i < purchases.size(); i++) {
      Purchase purchase = purchases.get(i);
      String reply = (String) replies.get(i);
      switch (reply.charAt(0)) {
        case 'S' -> {
          if (replicasConfirm) {
            handOver(purchase);
          } else {
            purchase.answer(ScriptReplies.repeated(reply));
          }
        }
        case 'K' -> purchase.answer(KEY_REUSED);
        case 'O' -> {
          shield.raise(purchase.attempt().skuId(), askedNanos);
          purchase.answer(SOLD_OUT);
        }
        case 'L' -> {
          shield.lift(purchase.attempt().skuId());
          handOver(purchase);
        }
        default -> throw new IllegalStateException("seen.lua and its caller disagree: " + reply);
      }
    }
  }

  private void handOver(Purchase purchase) {
    Purchase onward = purchase.handOver();
    if (onward != null) {
      admission.accept(onward);
    }
  }
}
