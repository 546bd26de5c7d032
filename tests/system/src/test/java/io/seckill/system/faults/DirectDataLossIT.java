package io.seckill.system.faults;

/** What is answered "queued" after the broker's confirm survives every loss of Redis. */
@OnChannel(durableIn = "broker")
class DirectDataLossIT extends DataLossIT {

  DirectDataLossIT(FaultLab lab) {
    super(lab);
  }
}
