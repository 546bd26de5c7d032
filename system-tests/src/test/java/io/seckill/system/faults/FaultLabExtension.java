package io.seckill.system.faults;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives fault tests the one {@link FaultLab} of the JVM, started by the first and closed after the
 * last of all classes, and heals it after each, however that ended.
 */
final class FaultLabExtension implements ParameterResolver, AfterEachCallback {

  private static final Namespace NAMESPACE = Namespace.create(FaultLabExtension.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == FaultLab.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return lab(context);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    lab(context).heal();
    lab(context).awaitHealed();
  }

  private static FaultLab lab(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .computeIfAbsent(FaultLab.class, type -> FaultLab.start(), FaultLab.class);
  }
}
