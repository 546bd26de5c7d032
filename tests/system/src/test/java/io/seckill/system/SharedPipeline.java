package io.seckill.system;

import io.seckill.system.faults.LabExtension;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Provides test classes with the {@link Pipeline} of this JVM, which is started for the first of
 * them and ends with the JVM. It uses the Redis users of {@code deploy/redis/users.acl}, enables
 * the demo's sign-in and wallets, and logs a line for each stage of an order. Each class sells its
 * own SKUs and leaves every service running. Labs end when it is asked for: by the alphabetical
 * order of the classes no test needs them any more.
 */
public final class SharedPipeline implements ParameterResolver {

  /** Only operators reconcile. */
  private static final Map<String, String> SETTINGS =
      Map.of(
          "SECKILL_DEMO_ENABLED", "true",
          "SECKILL_PAYMENT_PROVIDER", "wallet",
          "SECKILL_RECONCILIATION_INTERVAL", "1h",
          "SECKILL_RECONCILIATION_BARRIERTIMEOUT", "20s",
          "LOGGING_LEVEL_IO_SECKILL_ORDER", "DEBUG");

  private static @Nullable Pipeline pipeline;

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Pipeline.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    LabExtension.closeAll();
    return pipeline();
  }

  private static synchronized Pipeline pipeline() {
    Pipeline running = pipeline;
    if (running == null) {
      running = Pipeline.startWithLeastPrivilege("shared", SETTINGS);
      pipeline = running;
    }
    return running;
  }
}
