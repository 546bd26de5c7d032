package io.seckill.system.faults;

import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The rows of {@link GatewayFaultsIT} with gateways that publish their admissions themselves. */
@OnChannel("direct")
@EnabledIfSystemProperty(named = "seckill.proof", matches = "true")
class DirectGatewayFaultsIT extends GatewayFaultsIT {

  DirectGatewayFaultsIT(FaultLab lab) {
    super(lab);
  }
}
