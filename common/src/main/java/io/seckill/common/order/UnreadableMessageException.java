package io.seckill.common.order;

/** A message that is not a version 1 order message within its bounds; it can never succeed. */
public sealed class UnreadableMessageException extends Exception
    permits UnsupportedVersionException {

  private static final long serialVersionUID = 1L;

  /**
   * @param reason one line for operators; never echoes more of the payload than one field's value
   */
  public UnreadableMessageException(String reason) {
    super(reason);
  }
}
