package io.seckill.system.faults;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives fault tests the one {@link FaultLab} of the JVM, started by the first and closed after the
 * last of all classes, and heals it after each. A test that failed may leave sales and probes that
 * no healing brings back: the next one gets a new lab, so that a failure stays one failure.
 */
final class FaultLabExtension implements ParameterResolver, AfterEachCallback {

  private static final Namespace NAMESPACE = Namespace.create(FaultLabExtension.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == FaultLab.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return labs(context).current();
  }

  @Override
  public void afterEach(ExtensionContext context) {
    boolean held = false;
    try {
      if (context.getExecutionException().isEmpty()) {
        FaultLab lab = labs(context).current();
        lab.heal();
        lab.awaitHealed();
        held = true;
      }
    } finally {
      if (!held) {
        labs(context).discard();
      }
    }
  }

  private static Labs labs(ExtensionContext context) {
    return context.getRoot().getStore(NAMESPACE).computeIfAbsent(Labs.class);
  }

  /** One lab after the other, and what was seen in all of them. */
  static final class Labs implements AutoCloseable {

    private final FaultReport report = new FaultReport();
    private @Nullable FaultLab current;

    Labs() {}

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

    @Override
    public void close() {
      discard();
      report.write();
    }
  }
}
