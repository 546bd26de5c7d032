package io.seckill.system.faults;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives fault tests the one {@link FaultLab} of the JVM, started by the first of them and ended
 * with the JVM, and heals it after each. A test that failed may leave sales and probes that no
 * healing brings back: the next one gets a new lab, so that a failure stays one failure.
 */
final class FaultLabExtension implements ParameterResolver, AfterEachCallback, AfterAllCallback {

  /** Of the JVM: Surefire runs each class of a fork by itself. */
  private static final Labs LABS = new Labs();

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == FaultLab.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return LABS.current();
  }

  @Override
  public void afterEach(ExtensionContext context) {
    boolean held = false;
    try {
      if (context.getExecutionException().isEmpty()) {
        FaultLab lab = LABS.current();
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

  /** One lab after the other, and what was seen in all of them. */
  private static final class Labs {

    private final FaultReport report = new FaultReport();
    private @Nullable FaultLab current;

    private FaultLab current() {
      FaultLab lab = current;
      if (lab == null) {
        lab = FaultLab.start(report);
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
