package io.seckill.consumer.internal;

import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * One line per administrative change, done or refused, on the logger {@code audit}. Arguments are
 * values that were checked before, so no text of a caller can forge a line.
 */
@Component
public class AuditLog {

  private static final Logger audit = LoggerFactory.getLogger("audit");

  /**
   * @param action such as {@code preheat}
   * @param subject what it was done to, such as {@code sku=1001}
   * @param outcome such as {@code epoch=3}, or the code of the refusal
   */
  private static void record(Operator operator, String action, String subject, String outcome) {
    audit.info("operator={} action={} {} {}", operator, action, subject, outcome);
  }

  /**
   * Does the work and records how it ended, also when it was refused.
   *
   * @param outcome says of the result what is worth keeping
   */
  public <T> T audited(
      Operator operator,
      String action,
      String subject,
      Supplier<T> work,
      Function<T, String> outcome) {
    try {
      T done = work.get();
      record(operator, action, subject, outcome.apply(done));
      return done;
    } catch (ProblemException e) {
      record(operator, action, subject, "refused=" + e.problem().code());
      throw e;
    } catch (RuntimeException e) {
      record(operator, action, subject, "failed=" + e.getClass().getSimpleName());
      throw e;
    }
  }
}
