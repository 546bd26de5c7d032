package io.seckill.system.faults;

/** Provides {@link FaultLab}s. */
final class FaultLabExtension extends LabExtension {

  FaultLabExtension() {
    super(FaultLab.class);
  }

  @Override
  protected PipelineLab start(Channel channel, FaultReport report) {
    return FaultLab.start(channel, report);
  }
}
