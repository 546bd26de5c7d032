package io.seckill.system.faults;

import org.junit.jupiter.api.Tag;

/** The rows of {@link GatewayFaultsIT} with gateways that publish their admissions themselves. */
@OnChannel(durableIn = "broker")
@Tag("proof")
class DirectGatewayFaultsIT extends GatewayFaultsIT {

  DirectGatewayFaultsIT(FaultLab lab) {
    super(lab);
  }
}
