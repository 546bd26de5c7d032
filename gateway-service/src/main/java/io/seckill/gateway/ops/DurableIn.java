package io.seckill.gateway.ops;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;
import java.util.Objects;
import org.springframework.stereotype.Component;

/** The place of an order when this gateway answers that it is queued. */
@Component
record DurableIn(MeterRegistry meters) {

  /** REDIS, REPLICAS or BROKER. */
  String store() {
    Meter.Id durable = meters.get("seckill.admission.durable").gauge().getId();
    return Objects.requireNonNull(durable.getTag("in")).toUpperCase(Locale.ROOT);
  }
}
