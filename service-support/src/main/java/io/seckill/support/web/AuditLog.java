package io.seckill.support.web;

import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes one line per administrative change, carried out or refused, to the logger {@code audit}.
 * The arguments are validated beforehand, so that no text from a caller can forge a line.
 */
public final class AuditLog {

  private static final Logger audit = LoggerFactory.getLogger("audit");

  /**
   * @param subject the object of the action, such as {@code sku=1001}
   * @param outcome such as {@code epoch=3}, or the code of the refusal
   */
  public void record(Operator operator, String action, String subject, String outcome) {
    audit.info("operator={} action={} {} {}", operator, action, subject, outcome);
  }

  /**
   * Runs the work and logs its outcome, also when it is refused or fails, in a text made from the
   * result.
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
