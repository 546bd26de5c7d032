package io.seckill.system.faults;

import io.seckill.testing.RedisServer;

/** A lab with one of each server. Every link of a service goes through a proxy. */
final class FaultLab extends PipelineLab {

  private final LabServers servers;

  private FaultLab(
      LabServers servers, ServicesUnderTest product, Channel channel, FaultReport report) {
    super(servers, product, channel, report);
    this.servers = servers;
  }

  /** Starts everything, on a channel. */
  static FaultLab start(Channel channel, FaultReport report) {
    return start(ServicesUnderTest.AS_BUILT, channel, report);
  }

  /** Starts everything, on a channel, with services that may be changed. */
  static FaultLab start(ServicesUnderTest product, Channel channel, FaultReport report) {
    return new FaultLab(LabServers.start(), product, channel, report);
  }

  @Override
  public LabServers servers() {
    return servers;
  }

  /** Replaces Redis by a promoted server for good: all links are redirected to it. */
  void failOverTo(RedisServer promoted) {
    servers.failOverTo(promoted);
    all().forEach(service -> service.links().redis().redirect(promoted));
  }
}
