package io.seckill.relay.recovery;

/**
 * Another relay has fenced this life, or Redis has lost the registry: what lay in the private queue
 * is somebody else's now. The lane goes on with a new life.
 */
public final class LeaseFencedException extends Exception {

  private static final long serialVersionUID = 1L;

  public LeaseFencedException(String member) {
    super("the life of " + member + " is over");
  }
}
