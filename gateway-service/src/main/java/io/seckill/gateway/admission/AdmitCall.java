package io.seckill.gateway.admission;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.OrderTrail;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.admission.Admission.Queued;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.fallback.Promises;
import io.seckill.gateway.verification.HighWaterMarks;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.relay.lane.HandOver;
import io.seckill.relay.lane.HandOver.Reservation;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.support.web.ProductRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Executes {@code admit.lua} for a batch of purchases, followed by WAIT when replicas must confirm;
 * when the broker must, hands the admitted orders over to this gateway's lanes and waits for their
 * confirms. Thread-safe.
 */
final class AdmitCall implements RequestBatcher.Executor<Purchase> {

  private static final LuaScript SCRIPT = LuaScript.from(AdmitCall.class, "admit.lua");
  private static final int FIELDS = 8;
  private static final int HEAD = 2;

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final VerifiedServers servers;
  private final HighWaterMarks marks;
  private final LongFunction<@Nullable ProductRow> products;
  private final Promises promises;
  private final IntFunction<@Nullable OrderId> orderIds;
  private final List<HandOver> lanes;
  private final Runnable onOtherServer;
  private final SoldOutShield shield;
  private final Durability durability;
  private final RecentPublishes published = new RecentPublishes();

  /**
   * @param products what MySQL has of a SKU; null when that is not known
   * @param orderIds returns a new id of a partition, unique over all gateways; null while this
   *     gateway holds no worker number
   * @param lanes this gateway's lanes, one per partition; empty unless durable in the broker
   * @param onOtherServer called when a batch reaches a server that is not verified
   */
  AdmitCall(
      UnifiedJedis redis,
      RedisBreaker breaker,
      VerifiedServers servers,
      HighWaterMarks marks,
      LongFunction<@Nullable ProductRow> products,
      Promises promises,
      IntFunction<@Nullable OrderId> orderIds,
      List<HandOver> lanes,
      Runnable onOtherServer,
      SoldOutShield shield,
      Durability durability) {
    this.redis = redis;
    this.breaker = breaker;
    this.servers = servers;
    this.marks = marks;
    this.products = products;
    this.promises = promises;
    this.orderIds = orderIds;
    this.lanes = lanes;
    this.onOtherServer = onOtherServer;
    this.shield = shield;
    this.durability = durability;
  }

  /**
   * @param confirmed whether enough replicas have received what the reply reports
   */
  private record Reply(Object value, boolean confirmed) {}

  /**
   * What one script call carries.
   *
   * @param server the replication id that all these partitions were verified with
   * @param partitions in the order of the script's keys
   * @param reservations in the same order; null where orders go to the outbox
   */
  private record Call(
      String server,
      List<Integer> partitions,
      List<Sent> sent,
      List<@Nullable Reservation> reservations) {

    void end(Consumer<Reservation> end) {
      reservations.stream().filter(Objects::nonNull).forEach(end);
    }
  }

  /** A purchase and the id of the order that it may become. */
  private record Sent(Purchase purchase, OrderId id) {

    boolean isOf(int partition) {
      return purchase.partition() == partition;
    }
  }

  @Override
  public void execute(List<Purchase> purchases) {
    Call call = prepare(purchases);
    if (call == null) {
      return;
    }
    int partition = call.partitions().get(0);
    List<String> keys = call.partitions().stream().map(RedisKeys::outbox).toList();
    List<String> args = arguments(call);
    long askedNanos = System.nanoTime();
    Reply reply;
    try {
      reply =
          breaker.write(
              partition,
              () -> durability.replicas() == 0 ? call(keys, args) : callAndWait(keys, args));
    } catch (CallNotPermittedException e) {
      call.end(reservation -> reservation.handOver(List.of()));
      call.sent().forEach(sent -> sent.purchase().answer(Unknown.BREAKER));
      throw e;
    } catch (RuntimeException | Error e) {
      call.end(Reservation::unknown);
      throw e;
    }
    answer(call, reply, askedNanos);
  }

  /** Answers the purchases that cannot be sent; returns null when none is left. */
  private @Nullable Call prepare(List<Purchase> purchases) {
    @Nullable String server = null;
    List<Integer> partitions = new ArrayList<>();
    List<Sent> sent = new ArrayList<>(purchases.size());
    for (Purchase purchase : purchases) {
      int partition = purchase.partition();
      // Read the server before making ids: it is verified only after it has confirmed the lease.
      String verified = servers.replicationId(partition);
      @Nullable OrderId id = verified == null ? null : orderIds.apply(partition);
      if (!promises.may(purchase.attempt().skuId())) { // it may have waited
        purchase.answer(Unknown.FALLBACK);
      } else if (verified == null || (server != null && !server.equals(verified))) {
        purchase.answer(Unknown.UNVERIFIED);
      } else if (id == null) {
        purchase.answer(Unknown.NO_WORKER);
      } else {
        server = verified;
        sent.add(new Sent(purchase, id));
        if (!partitions.contains(partition)) {
          partitions.add(partition);
        }
      }
    }
    return server == null ? null : new Call(server, partitions, sent, reserve(partitions, sent));
  }

  /** Room in the lane of each partition; null, so that its orders go to the outbox, without. */
  private List<@Nullable Reservation> reserve(List<Integer> partitions, List<Sent> sent) {
    List<@Nullable Reservation> reservations = new ArrayList<>(partitions.size());
    for (int partition : partitions) {
      long orders = sent.stream().filter(one -> one.isOf(partition)).count();
      reservations.add(lanes.isEmpty() ? null : lanes.get(partition).reserve((int) orders));
    }
    return reservations;
  }

  private List<String> arguments(Call call) {
    List<String> args =
        new ArrayList<>(HEAD + call.partitions().size() + FIELDS * call.sent().size());
    args.add(call.server());
    args.add(durability.in().name());
    call.reservations().forEach(room -> args.add(room == null ? "" : room.token()));
    for (Sent sent : call.sent()) {
      PurchaseAttempt attempt = sent.purchase().attempt();
      args.add(Integer.toString(call.partitions().indexOf(attempt.partition()) + 1));
      args.add(Long.toString(attempt.skuId()));
      args.add(Long.toString(attempt.userId()));
      args.add(attempt.requestId());
      args.add(Integer.toString(attempt.quantity()));
      args.add(sent.id().toString());
      args.add(attempt.traceparent() == null ? "" : attempt.traceparent());
      ProductRow product = products.apply(attempt.skuId());
      args.add(product == null ? "0" : Long.toString(product.epoch()));
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
          pipeline.waitReplicas(keys.get(0), durability.replicas(), durability.within().toMillis());
      pipeline.sync();
      return new Reply(
          PipelineReplies.get(reply), PipelineReplies.get(confirmations) >= durability.replicas());
    }
  }

  private void answer(Call call, Reply reply, long askedNanos) {
    List<Sent> sent = call.sent();
    if (reply.value() instanceof Long) {
      call.end(reservation -> reservation.handOver(List.of()));
      call.partitions().forEach(partition -> servers.otherServer(partition, call.server()));
      onOtherServer.run();
      sent.forEach(one -> one.purchase().answer(Unknown.UNVERIFIED));
      return;
    }
    List<?> texts = (List<?>) reply.value();
    BrokerConfirms confirms = new BrokerConfirms(promises, published);
    handOver(call, texts, confirms);
    List<AdmittedSku> skus =
        texts.subList(sent.size(), texts.size()).stream()
            .map(text -> AdmittedSku.parse((String) text))
            .toList();
    skus.forEach(sku -> marks.record(call.server(), sku.skuId(), sku.epoch(), sku.seq()));
    if (promises.mustRemember()) {
      remember(call, texts, skus);
    }
    for (int i = 0; i < sent.size(); i++) {
      OrderId id = sent.get(i).id();
      PurchaseAttempt attempt = sent.get(i).purchase().attempt();
      Admission outcome = ScriptReplies.read((String) texts.get(i), id);
      if (outcome == Refusal.SOLD_OUT) {
        shield.raise(attempt.skuId(), askedNanos);
      }
      if (outcome instanceof Admission.Admitted && OrderTrail.isOn()) {
        OrderTrail.mark(id, attempt.skuId(), attempt.traceparent(), "admitted");
      }
      promise(sent.get(i).purchase(), outcome, reply, confirms);
    }
    confirms.await(durability.within());
  }

  /** A refusal promises nothing, and an order that was settled has been in the broker. */
  private void promise(Purchase purchase, Admission outcome, Reply reply, BrokerConfirms confirms) {
    if (!(outcome instanceof Queued order)) {
      purchase.answer(outcome);
    } else if (!promises.may(purchase.attempt().skuId())) {
      purchase.answer(Unknown.FALLBACK);
    } else if (durability.in() == Durability.Store.BROKER && order.status() == OrderStatus.QUEUED) {
      confirms.answerConfirmed(purchase, order);
    } else {
      purchase.answer(reply.confirmed() ? order : Unknown.REPLICAS);
    }
  }

  private void handOver(Call call, List<?> texts, BrokerConfirms confirms) {
    for (int i = 0; i < call.partitions().size(); i++) {
      Reservation reservation = call.reservations().get(i);
      if (reservation != null) {
        handOver(call, texts, call.partitions().get(i), reservation, confirms);
      }
    }
  }

  private void handOver(
      Call call, List<?> texts, int partition, Reservation reservation, BrokerConfirms confirms) {
    List<OutboundOrder> pushed = new ArrayList<>();
    for (int i = 0; i < call.sent().size(); i++) {
      if (call.sent().get(i).isOf(partition)) {
        String text = (String) texts.get(i);
        @Nullable String message = ScriptReplies.message(text);
        if (message != null) {
          pushed.add(outbound(message, confirms));
        } else if (ScriptReplies.isAdmitted(text)) { // in the outbox: the lease is over
          reservation.unknown();
          return;
        }
      }
    }
    reservation.handOver(pushed);
  }

  private OutboundOrder outbound(String json, BrokerConfirms confirms) {
    byte[] body = json.getBytes(UTF_8);
    OutboundOrder order = OutboundOrder.of(body, message -> published.confirmed(message.orderId()));
    if (order.message() != null) {
      confirms.published(order.message().orderId());
    }
    return order;
  }

  /** In the order of their sequence numbers, so that the last one of a SKU is the highest. */
  private void remember(Call call, List<?> texts, List<AdmittedSku> skus) {
    List<OrderMessage> orders = new ArrayList<>();
    for (AdmittedSku sku : skus) {
      promises.admitted(sku.skuId(), sku.epoch(), sku.units());
      long seq = sku.seq();
      for (int i = call.sent().size() - 1; i >= 0; i--) {
        Sent one = call.sent().get(i);
        if (one.purchase().attempt().skuId() == sku.skuId()
            && ScriptReplies.isAdmitted((String) texts.get(i))) {
          orders.add(sku.order(one.id(), one.purchase().attempt(), seq--));
        }
      }
    }
    for (int i = 0; i < call.sent().size(); i++) {
      PurchaseAttempt attempt = call.sent().get(i).purchase().attempt();
      ProductRow product = products.apply(attempt.skuId());
      OrderMessage queued =
          product == null
              ? null
              : ScriptReplies.stillQueued((String) texts.get(i), attempt, product.policy());
      if (queued != null) {
        orders.add(queued);
      }
    }
    promises.remember(orders);
  }
}
