package io.seckill.system.observability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.Pipeline;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** One purchase is followed by its trace id from the gateway to the row. */
@ExtendWith(TestServers.class)
class TraceIT {

  private static final String NAME = "trace";
  private static final String TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String TRACEPARENT = "00-" + TRACE_ID + "-00f067aa0ba902b7-01";
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @Test
  void aTraceIdLeadsThroughTheLogsOfEveryService() throws IOException {
    try (Pipeline pipeline =
        Pipeline.startWith(NAME, Map.of("LOGGING_LEVEL_IO_SECKILL_ORDER", "DEBUG"))) {
      long sku = 2101;
      pipeline.admin().sell(sku, PurchasePolicy.LIMITED, 5, 100);

      String order =
          pipeline.shop().buyTraced(7, sku, 2, "traced-order", TRACEPARENT).text("orderId");
      String untraced = pipeline.shop().buy(8, sku, 1, "untraced-order").text("orderId");
      awaitConfirmed(pipeline, 7, order);
      awaitConfirmed(pipeline, 8, untraced);

      assertThat(stages("gateway-service", order, TRACE_ID)).containsExactly("admitted");
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(stages("relay-service", order, TRACE_ID))
                      .containsExactly("published", "confirmed"));
      assertThat(stages("order-consumer", order, TRACE_ID)).containsExactly("stored");
      assertThat(stages("order-consumer", untraced, "-")).containsExactly("stored");
    }
  }

  private static void awaitConfirmed(Pipeline pipeline, long user, String order) {
    await()
        .atMost(PATIENCE)
        .until(() -> pipeline.shop().order(user, order).text("status"), "CONFIRMED"::equals);
  }

  /** What a service's log says of an order under a trace id, oldest first. */
  private static List<String> stages(String module, String order, String trace) throws IOException {
    return Files.readAllLines(Path.of("target", "logs", NAME + "-" + module + ".log")).stream()
        .filter(line -> line.contains("order=" + order + " ") && line.contains("trace=" + trace))
        .map(line -> line.replaceAll(".* stage=", ""))
        .toList();
  }
}
