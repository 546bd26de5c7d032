package io.seckill.relay.recovery;

/**
 * Another relay has fenced this lease, or Redis has lost the registry: another lane adopts the
 * orders in the private queue. The lane continues with a new lease.
 */
public final class LeaseFencedException extends Exception {

  private static final long serialVersionUID = 1L;

  public LeaseFencedException(String token) {
    super("lease " + token + " is over");
  }
}
