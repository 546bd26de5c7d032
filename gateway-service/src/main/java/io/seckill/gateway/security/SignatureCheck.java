package io.seckill.gateway.security;

/** Checks that a token was signed by a trusted issuer, with an algorithm chosen by this gateway. */
interface SignatureCheck extends AutoCloseable {

  /**
   * Never blocks; thread-safe.
   *
   * @param token three base64url parts with two dots, as received
   * @param headerEnd index of the first dot
   * @param payloadEnd index of the second dot
   */
  boolean isGenuine(String token, int headerEnd, int payloadEnd);

  /** Ends background work. */
  @Override
  default void close() {}
}
