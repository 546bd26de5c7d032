package io.seckill.system.faults;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Provides fault tests with the {@link FaultLab} of the JVM, which is started for the first of them
 * and ends with the JVM or with the first test on another {@link Channel}, and heals it after each.
 * A failed test may leave sales and probes that cannot be healed, so the next test gets a new lab
 * and one failure causes no others.
 */
final class FaultLabExtension implements ParameterResolver, AfterEachCallback, AfterAllCallback {

  /** Static, to be shared in the JVM: Surefire runs each class of a fork separately. */
  private static final Labs LABS = new Labs();

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == FaultLab.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return LABS.on(Channel.of(context.getRequiredTestClass()));
  }

  @Override
  public void afterEach(ExtensionContext context) {
    boolean held = false;
    try {
      if (context.getExecutionException().isEmpty()) {
        FaultLab lab = LABS.on(Channel.of(context.getRequiredTestClass()));
        lab.heal();
        lab.awaitHealed();
        held = true;
      }
    } finally {
      if (!held) {
        LABS.discard();
      }
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    LABS.report.write();
  }

  /** The current lab, and the report on all labs. */
  private static final class Labs {

    private final FaultReport report = new FaultReport();
    private @Nullable FaultLab current;

    private FaultLab on(Channel channel) {
      if (current != null && !current.channel().equals(channel)) {
        discard();
      }
      FaultLab lab = current;
      if (lab == null) {
        lab = FaultLab.start(channel, report);
        current = lab;
      }
      return lab;
    }

    private void discard() {
      FaultLab lab = current;
      current = null;
      if (lab != null) {
        lab.close();
      }
    }
  }
}
