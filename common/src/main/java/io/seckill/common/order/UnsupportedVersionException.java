package io.seckill.common.order;

/** A message of a version that this release does not read; a later one may. */
public final class UnsupportedVersionException extends UnreadableMessageException {

  private static final long serialVersionUID = 1L;

  public UnsupportedVersionException(long version) {
    super("version " + version + ", this service reads version " + OrderMessage.VERSION);
  }
}
