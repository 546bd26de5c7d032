package io.seckill.common.order;

/** A message that is not a version 1 order message within its bounds; it can never succeed. */
public sealed class UnreadableMessageException extends Exception
    permits UnsupportedVersionException {

  private static final long serialVersionUID = 1L;

  /** The reason is one line for operators, and echoes no more of the payload than one field. */
  public UnreadableMessageException(String reason) {
    super(reason);
  }
}
