package io.seckill.gateway.ops;

import static io.seckill.gateway.ops.SalesTable.MAX_PRODUCTS;

import io.seckill.common.sale.Decider;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.admission.AdmissionProperties;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.ops.SalesTable.Sales;
import io.seckill.gateway.ops.SnapshotReader.Snapshot.Links;
import io.seckill.gateway.ops.SnapshotReader.Snapshot.Reachability;
import io.seckill.gateway.ops.SnapshotReader.Snapshot.Services;
import io.seckill.support.contract.ProductRow;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/** Reads snapshots; an unavailable service leaves a gap in the snapshot instead of failing it. */
@Component
record SnapshotReader(
    SalesTable mysql,
    ProductCache products,
    LaneRegistry lanes,
    SaleStates states,
    @Qualifier("operatorRedisCalls") BlockingCalls redisCalls,
    ConsumerClient consumer,
    AdmissionProperties admission,
    OpsProperties settings) {

  static final int MAX_LEDGERS = 20;

  private static final int AT_ONCE = 4;
  private static final Comparator<ProductRow> RUNNING_FIRST =
      Comparator.comparing((ProductRow product) -> !product.state().isRunning())
          .thenComparing(ProductRow::skuId);
  private static final Duration PATIENCE = Duration.ofMillis(1500);

  private record InRedis(Lanes lanes, List<PendingStop> stops) {}

  /** Never fails; answers within about three seconds. */
  Mono<Snapshot> read() {
    return Mono.zip(
            orEmpty(mysql.sales()),
            orEmpty(redisCalls.call(this::inRedis)),
            consumerIsUp(),
            orEmpty(consumer.fallback()),
            orEmpty(consumer.pendingWork()))
        .flatMap(
            read ->
                ledgers(read.getT1(), read.getT3())
                    .map(
                        ledgers ->
                            snapshot(
                                read.getT1(),
                                read.getT2(),
                                read.getT3(),
                                ledgers,
                                read.getT4(),
                                read.getT5())));
  }

  private InRedis inRedis() {
    Lanes read = lanes.read();
    List<Integer> answering = read.outboxes().stream().map(Lanes.Outbox::partition).toList();
    return new InRedis(
        read,
        states.pendingStops(answering).stream().map(SnapshotReader::ofSku).distinct().toList());
  }

  /** The stop of a shard is that of its SKU. */
  private static PendingStop ofSku(PendingStop stop) {
    return new PendingStop(Shards.sku(stop.skuId()), stop.state(), stop.askedAt(), stop.operator());
  }

  private Mono<Boolean> consumerIsUp() {
    return consumer.isReady().timeout(PATIENCE).onErrorReturn(false);
  }

  /**
   * Returns the ledgers that arrive in time: a missing slow ledger is better than a delay of all.
   */
  private Mono<List<JsonNode>> ledgers(Optional<Sales> sales, boolean consumerUp) {
    if (sales.isEmpty() || !consumerUp) {
      return Mono.just(List.of());
    }
    List<Long> skus =
        sales.get().products().stream()
            .filter(product -> product.state() != SaleState.NEW)
            .limit(MAX_LEDGERS)
            .map(ProductRow::skuId)
            .toList();
    return Flux.fromIterable(skus)
        .flatMap(sku -> consumer.ledger(sku).onErrorResume(e -> Mono.empty()), AT_ONCE)
        .take(PATIENCE)
        .collectList();
  }

  private Snapshot snapshot(
      Optional<Sales> sales,
      Optional<InRedis> redis,
      boolean consumerUp,
      List<JsonNode> ledgers,
      Optional<JsonNode> fallback,
      Optional<JsonNode> pendingWork) {
    Reachability inRedis =
        redis.map(InRedis::lanes).map(SnapshotReader::reachability).orElse(Reachability.DOWN);
    return new Snapshot(
        Instant.now().truncatedTo(ChronoUnit.MILLIS),
        new Services(
            inRedis,
            Reachability.of(sales.isPresent()),
            broker(ledgers, inRedis),
            Reachability.of(consumerUp),
            redis
                .map(read -> Reachability.of(read.lanes().anyAlive()))
                .orElse(Reachability.UNKNOWN)),
        admission.durableIn().name(),
        new Links(settings.brokerUiUrl(), settings.grafanaUrl()),
        sales.map(Sales::products).or(this::lastRead).orElse(null),
        ledgers,
        redis.map(InRedis::lanes).orElse(null),
        redis.map(InRedis::stops).orElse(null),
        sales.map(Sales::deadLetters).orElse(null),
        sales.flatMap(Sales::clickToRow).orElse(null),
        fallback.orElse(null),
        pendingWork.orElse(null));
  }

  /**
   * States do not change in MySQL while it is unavailable, so the last read shows the sales to
   * stop.
   */
  private Optional<List<ProductRow>> lastRead() {
    return products
        .lastRead()
        .map(all -> all.stream().sorted(RUNNING_FIRST).limit(MAX_PRODUCTS).toList());
  }

  static Reachability reachability(Lanes lanes) {
    boolean isWhole = lanes.unavailable().isEmpty() && lanes.refusing().isEmpty();
    return isWhole ? Reachability.UP : Reachability.DEGRADED;
  }

  /** The ledger of a strong sale has no queue; without all of Redis others need not have one. */
  static Reachability broker(List<JsonNode> ledgers, Reachability redis) {
    List<JsonNode> withQueue =
        ledgers.stream()
            .flatMap(SnapshotReader::sold)
            .filter(ledger -> !ledger.path("decides").asString("").equals(Decider.MYSQL.name()))
            .toList();
    if (withQueue.stream().anyMatch(ledger -> ledger.path("queue").isObject())) {
      return Reachability.UP;
    }
    return withQueue.isEmpty() || redis != Reachability.UP
        ? Reachability.UNKNOWN
        : Reachability.DOWN;
  }

  /** The ledgers of a SKU's shards, or its own. */
  private static Stream<JsonNode> sold(JsonNode ledger) {
    JsonNode shards = ledger.path("shards");
    return shards.isEmpty() ? Stream.of(ledger) : shards.valueStream();
  }

  private static <T> Mono<Optional<T>> orEmpty(Mono<T> read) {
    return read.map(Optional::of)
        .timeout(PATIENCE)
        .onErrorReturn(Optional.empty())
        .defaultIfEmpty(Optional.empty());
  }

  /**
   * The contents of the operations page, read from several stores at nearly the same moment. A
   * value that could not be read is null or missing, and its service is reported as DOWN.
   *
   * @param durableIn the store that has an order when this gateway answers that it is queued
   * @param skus running sales first; while MySQL does not answer, as the gateway last read them
   * @param ledgers as order-consumer returns them, of at most {@value SnapshotReader#MAX_LEDGERS}
   *     SKUs
   * @param stops that Redis applies and MySQL has not stored yet
   * @param clickToRow also null when no order was stored within the last minute
   * @param fallback who decides the sales of Redis, as order-consumer returns it
   * @param pendingWork number and age of the work that waits in MySQL, as order-consumer returns it
   */
  record Snapshot(
      Instant at,
      Services services,
      String durableIn,
      Links links,
      @Nullable List<ProductRow> skus,
      List<JsonNode> ledgers,
      @Nullable Lanes lanes,
      @Nullable List<PendingStop> stops,
      @Nullable Long deadLetters,
      SalesTable.@Nullable ClickToRow clickToRow,
      @Nullable JsonNode fallback,
      @Nullable JsonNode pendingWork) {

    /** Whether a service or server answers. */
    enum Reachability {
      UP,
      /** Some partitions' servers do not answer, or take no writes. */
      DEGRADED,
      DOWN,
      /** Not known, because the service that would report it is unavailable. */
      UNKNOWN;

      static Reachability of(boolean up) {
        return up ? UP : DOWN;
      }
    }

    /**
     * The services and servers.
     *
     * @param broker as order-consumer's ledgers report it
     * @param relay UP while a lane is alive
     */
    record Services(
        Reachability redis,
        Reachability mysql,
        Reachability broker,
        Reachability consumer,
        Reachability relay) {}

    /** Addresses of other tools; empty for none. */
    record Links(String brokerUi, String grafana) {}
  }
}
