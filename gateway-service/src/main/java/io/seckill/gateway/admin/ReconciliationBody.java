package io.seckill.gateway.admin;

import io.seckill.support.web.ProblemException;
import io.seckill.support.web.StrictJson;
import org.jspecify.annotations.Nullable;

/**
 * The body of a reconciliation request: whether it is a dry run, which only reports differences.
 */
record ReconciliationBody(@Nullable Boolean dryRun) {

  /**
   * @throws ProblemException 400 when {@code dryRun} is missing
   */
  static boolean checked(byte[] json) {
    Boolean dryRun = StrictJson.read(json, ReconciliationBody.class).dryRun;
    if (dryRun == null) {
      throw ProblemException.invalid("dryRun", "dryRun must be true or false.");
    }
    return dryRun;
  }
}
