package io.seckill.gateway.admission;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.OrderTrail;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Queued;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.admission.AdmitReply.AdmittedSku;
import io.seckill.gateway.admission.AdmitReply.ScriptReply;
import io.seckill.gateway.admission.AdmitRequests.AdmitRequest;
import io.seckill.gateway.admission.BrokerConfirms.RecentPublishes;
import io.seckill.gateway.fallback.Promises;
import io.seckill.gateway.verification.HighWaterMarks;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.relay.lane.LaneMailbox.Reservation;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.PathIds;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Answers the purchases of a call from its reply. Before that it hands the admitted orders over to
 * this gateway's lanes, and remembers them for a fallback; when the broker must have them, it waits
 * for its confirms. Thread-safe.
 *
 * @param onOtherServer called when a call reaches a server that is not verified
 * @param products a SKU's row in MySQL; null when it is not known
 */
record AdmitAnswers(
    VerifiedServers servers,
    Runnable onOtherServer,
    HighWaterMarks marks,
    SoldOutShield shield,
    Promises promises,
    LongFunction<@Nullable ProductRow> products,
    Durability durability,
    RecentPublishes published) {

  /** {@code askedNanos} is System.nanoTime() before the call. */
  void answer(AdmitRequest request, AdmitReply reply, long askedNanos) {
    if (reply.isOfOtherServer()) {
      request.endReservations(reservation -> reservation.deliver(List.of()));
      request.partitions().forEach(partition -> servers.otherServer(partition, request.server()));
      onOtherServer.run();
      request.answerAll(Unknown.UNVERIFIED);
      return;
    }
    BrokerConfirms confirms = new BrokerConfirms(promises, published);
    deliver(request, reply, confirms);
    for (AdmittedSku sku : reply.skus()) {
      marks.record(request.server(), sku.skuId(), sku.epoch(), sku.seq());
    }
    if (promises.mustRemember()) {
      remember(request, reply);
    }
    for (int i = 0; i < request.purchases().size(); i++) {
      Purchase purchase = request.purchases().get(i);
      PurchaseAttempt attempt = purchase.attempt();
      ScriptReply one = reply.purchases().get(i);
      if (Shards.isShard(attempt.skuId())) {
        purchase.asked(askedNanos); // its SOLD_OUT proves nothing: see ShardedPurchases
      } else if (one.outcome() == Refusal.SOLD_OUT) {
        shield.raise(attempt.skuId(), askedNanos);
      }
      if (one.isAdmitted() && OrderTrail.isOn()) {
        OrderTrail.mark(request.ids().get(i), attempt.skuId(), attempt.traceparent(), "admitted");
      }
      promise(purchase, outcome(attempt, one), reply.confirmed(), confirms);
    }
    confirms.await(durability.within());
  }

  /** The broker never confirms what nobody has published. */
  private Admission outcome(PurchaseAttempt attempt, ScriptReply reply) {
    return attempt.skuId() == PathIds.NEVER_ON_SALE
            && reply.outcome() == Refusal.UNKNOWN_SKU
            && durability.in() != Durability.Store.BROKER
        ? Admitted.IN_WARM_UP
        : reply.outcome();
  }

  /**
   * A refusal promises nothing, and an order that was settled has been in the broker. A fallback
   * may have begun since the call.
   */
  private void promise(
      Purchase purchase, Admission outcome, boolean onReplicas, BrokerConfirms confirms) {
    if (!(outcome instanceof Queued order)) {
      purchase.answer(outcome);
    } else if (!promises.mayConfirm(purchase.attempt().skuId())) {
      purchase.answer(Unknown.FALLBACK);
    } else if (durability.in() == Durability.Store.BROKER && order.status() == OrderStatus.QUEUED) {
      confirms.answerConfirmed(purchase, order);
    } else {
      purchase.answer(onReplicas ? order : Unknown.REPLICAS);
    }
  }

  private void deliver(AdmitRequest request, AdmitReply reply, BrokerConfirms confirms) {
    for (int i = 0; i < request.partitions().size(); i++) {
      Reservation reservation = request.reservations().get(i);
      if (reservation != null) {
        deliver(request, reply, request.partitions().get(i), reservation, confirms);
      }
    }
  }

  private void deliver(
      AdmitRequest request,
      AdmitReply reply,
      int partition,
      Reservation reservation,
      BrokerConfirms confirms) {
    List<OutboundOrder> pushed = new ArrayList<>();
    for (int i = 0; i < request.purchases().size(); i++) {
      if (request.purchases().get(i).partition() == partition) {
        ScriptReply one = reply.purchases().get(i);
        if (one.message() != null) {
          pushed.add(outbound(one.message(), partition, confirms));
        } else if (one.isAdmitted()) { // in the outbox: the lease is over
          reservation.unknown();
          return;
        }
      }
    }
    reservation.deliver(pushed);
  }

  private OutboundOrder outbound(String json, int partition, BrokerConfirms confirms) {
    byte[] body = json.getBytes(UTF_8);
    OutboundOrder order =
        OutboundOrder.of(body, partition, message -> published.confirmed(message.orderId()));
    if (order.message() != null) {
      confirms.published(order.message().orderId());
    }
    return order;
  }

  /** In the order of their sequence numbers, so that the last one of a SKU is the highest. */
  private void remember(AdmitRequest request, AdmitReply reply) {
    List<OrderMessage> orders = new ArrayList<>();
    for (AdmittedSku sku : reply.skus()) {
      promises.admitted(sku.skuId(), sku.epoch(), sku.units());
      long seq = sku.seq();
      for (int i = request.purchases().size() - 1; i >= 0; i--) {
        PurchaseAttempt attempt = request.purchases().get(i).attempt();
        if (attempt.skuId() == sku.skuId() && reply.purchases().get(i).isAdmitted()) {
          orders.add(sku.order(request.ids().get(i), attempt, seq--));
        }
      }
    }
    for (int i = 0; i < request.purchases().size(); i++) {
      PurchaseAttempt attempt = request.purchases().get(i).attempt();
      ProductRow product = products.apply(attempt.skuId());
      OrderMessage queued =
          product == null ? null : reply.purchases().get(i).stillQueued(attempt, product.policy());
      if (queued != null) {
        orders.add(queued);
      }
    }
    promises.remember(orders);
  }
}
