package io.seckill.system;

import java.util.Map;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives test classes the one {@link Pipeline} of this JVM, started for the first of them and closed
 * after the last: with the Redis users of {@code deploy/redis/users.acl}, the demo's sign-in, and a
 * log line for each stage of an order. Each class sells SKUs of its own and leaves every service
 * running.
 */
public final class SharedPipeline implements ParameterResolver {

  private static final Namespace NAMESPACE = Namespace.create(SharedPipeline.class);
  private static final Map<String, String> SETTINGS =
      Map.of("SECKILL_DEMO_ENABLED", "true", "LOGGING_LEVEL_IO_SECKILL_ORDER", "DEBUG");

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Pipeline.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .computeIfAbsent(
            Pipeline.class,
            none -> Pipeline.startWithLeastPrivilege("shared", SETTINGS),
            Pipeline.class);
  }
}
