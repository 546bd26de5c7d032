package io.seckill.system.faults;

import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The rows of {@link BrokerFaultsIT} with gateways that publish their admissions themselves. */
@OnChannel("direct")
@EnabledIfSystemProperty(named = "seckill.proof", matches = "true")
class DirectBrokerFaultsIT extends BrokerFaultsIT {

  DirectBrokerFaultsIT(FaultLab lab) {
    super(lab);
  }
}
