package io.seckill.gateway.security;

/** Whether a token was signed by who we trust, with an algorithm we chose ourselves. */
interface SignatureCheck extends AutoCloseable {

  /**
   * Never blocks; thread-safe.
   *
   * @param token three base64url parts with two dots, as received
   * @param headerEnd index of the first dot
   * @param payloadEnd index of the second dot
   */
  boolean isGenuine(String token, int headerEnd, int payloadEnd);

  /** Ends what works in the background. */
  @Override
  default void close() {}
}
