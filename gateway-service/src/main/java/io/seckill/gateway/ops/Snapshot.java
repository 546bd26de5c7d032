package io.seckill.gateway.ops;

import com.fasterxml.jackson.annotation.JsonFormat;
import io.seckill.common.sale.PendingStop;
import io.seckill.support.contract.ProductRow;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The contents of the operations page, read from several stores at nearly the same moment. A value
 * that could not be read is null or missing, and its service is reported as DOWN.
 *
 * @param durableIn the store that has an order when this gateway answers that it is queued
 * @param skus running sales first; while MySQL does not answer, as the gateway last read them
 * @param ledgers as order-consumer returns them, of at most {@value SnapshotReader#MAX_LEDGERS}
 *     SKUs
 * @param stops that Redis applies and MySQL has not stored yet
 * @param deadLetters number of open ones
 * @param clickToRow also null when no order was stored within the last minute
 * @param fallback who decides the sales of Redis, as order-consumer returns it
 * @param pendingWork number and age of the work that waits in MySQL, as order-consumer returns it
 */
record Snapshot(
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant at,
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
  enum State {
    UP,
    DOWN,
    /** Not known, because the service that would report it is unavailable. */
    UNKNOWN;

    static State of(boolean up) {
      return up ? UP : DOWN;
    }
  }

  /**
   * The services and servers.
   *
   * @param broker as order-consumer's ledgers report it
   * @param relay UP while a lane is alive
   */
  record Services(State redis, State mysql, State broker, State consumer, State relay) {}

  /** Addresses of other tools; empty for none. */
  record Links(String brokerUi, String grafana) {}
}
