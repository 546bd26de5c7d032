package io.seckill.system.faults;

import org.junit.jupiter.api.Tag;

/** The rows of {@link BrokerFaultsIT} with gateways that publish their admissions themselves. */
@OnChannel(durableIn = "broker")
@Tag("proof")
class DirectBrokerFaultsIT extends BrokerFaultsIT {

  DirectBrokerFaultsIT(FaultLab lab) {
    super(lab);
  }
}
