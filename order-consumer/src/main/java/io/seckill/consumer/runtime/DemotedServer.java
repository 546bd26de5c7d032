package io.seckill.consumer.runtime;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;

/**
 * Makes the pools give up a connection to a server that has become read-only: a primary that is
 * demoted keeps its connections, and only a new one finds its successor.
 */
public final class DemotedServer implements SQLExceptionOverride {

  /** Refused because of read_only, super_read_only or innodb_read_only. */
  private static final int READ_ONLY_OPTION = 1290;

  private static final int READ_ONLY_MODE = 1836;

  @java.lang.Override
  public Override adjudicate(SQLException refusal) {
    int error = refusal.getErrorCode();
    return error == READ_ONLY_OPTION || error == READ_ONLY_MODE
        ? Override.MUST_EVICT
        : Override.CONTINUE_EVICT;
  }
}
