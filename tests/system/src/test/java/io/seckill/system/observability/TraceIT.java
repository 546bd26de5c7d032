package io.seckill.system.observability;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.Pipeline;
import io.seckill.system.SharedPipeline;
import io.seckill.system.process.Service;
import io.seckill.system.shop.Answer;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Follows one purchase by its trace id from the gateway to its row in MySQL. */
@ExtendWith({TestServers.class, SharedPipeline.class})
class TraceIT {

  private static final String TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String TRACEPARENT = "00-" + TRACE_ID + "-00f067aa0ba902b7-01";

  private final Pipeline pipeline;

  TraceIT(Pipeline pipeline) {
    this.pipeline = pipeline;
  }

  @Test
  void aTraceIdLeadsThroughTheLogsOfEveryService() throws IOException {
    long sku = 2101;
    pipeline.admin().sell(sku, PurchasePolicy.LIMITED, 5, 100);

    AtomicLong tracedUser = new AtomicLong(100);
    String order = // a repeat would not be logged as admitted
        accepted(
            () ->
                pipeline
                    .shop()
                    .buyTraced(tracedUser.incrementAndGet(), sku, 2, "traced-order", TRACEPARENT));
    String untraced = accepted(() -> pipeline.shop().buy(8, sku, 1, "untraced-order"));
    awaitConfirmed(tracedUser.get(), order);
    awaitConfirmed(8, untraced);

    assertThat(stages(Service.GATEWAY, order, TRACE_ID)).containsExactly("admitted");
    eventually()
        .untilAsserted(
            () ->
                assertThat(stages(Service.RELAY, order, TRACE_ID)) // again after a time-out
                    .startsWith("published")
                    .endsWith("confirmed")
                    .containsOnly("published", "confirmed"));
    eventually()
        .untilAsserted(
            () -> {
              assertThat(stages(Service.CONSUMER, order, TRACE_ID)).containsOnlyOnce("stored");
              assertThat(stages(Service.CONSUMER, untraced, "-")).containsOnlyOnce("stored");
            });
  }

  /** Repeats a purchase until it is accepted; returns the order's id. */
  private static String accepted(Callable<Answer> purchase) {
    return eventually().until(purchase, answer -> answer.status() == 202).text("orderId");
  }

  private void awaitConfirmed(long user, String order) {
    eventually()
        .until(() -> pipeline.shop().order(user, order).text("status"), "CONFIRMED"::equals);
  }

  /** The stages of an order that a service has logged with a trace id, oldest first. */
  private List<String> stages(Service service, String order, String trace) throws IOException {
    return Files.readAllLines(pipeline.log(service)).stream()
        .filter(line -> line.contains("order=" + order + " ") && line.contains("trace=" + trace))
        .map(line -> line.replaceAll(".* stage=", ""))
        .toList();
  }
}
