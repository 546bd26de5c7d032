package io.seckill.consumer.web;

import io.seckill.support.web.ProblemException;

/**
 * A request body whose exact bytes are signed, so nothing may be read from it before the signature
 * has been checked.
 */
public final class SignedBody {

  private final byte[] bytes;

  SignedBody(byte[] bytes) {
    this.bytes = bytes;
  }

  /** The bytes as received; not a copy. */
  public byte[] bytes() {
    return bytes;
  }

  /**
   * @throws ProblemException 400 when it is not one JSON object
   */
  public JsonBody asJson() {
    return JsonBody.parse(bytes);
  }
}
