package io.seckill.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Marks a test class that starts containers itself, as with {@link MySqlServer#startContainer}. It
 * is skipped, and the reason is printed, without Docker or one of the images.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsContainers.Condition.class)
public @interface NeedsContainers {

  /** Decides before anything is started. */
  final class Condition implements ExecutionCondition {

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return new ContainerBackend()
          .missing()
          .map(ConditionEvaluationResult::disabled)
          .orElseGet(() -> ConditionEvaluationResult.enabled("containers can be started"));
    }
  }
}
