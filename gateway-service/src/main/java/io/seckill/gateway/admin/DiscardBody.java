package io.seckill.gateway.admin;

import io.seckill.gateway.web.JsonBody;
import org.jspecify.annotations.Nullable;

/** The body of a discard request: the reason why the order will never be stored. */
record DiscardBody(@Nullable String reason) {

  private static final int MAX_REASON = 200;

  /** Returns the reason, 1..200 characters on one line; fails with 400 otherwise. */
  static String checked(byte[] json) {
    return Texts.line("reason", JsonBody.read(json, DiscardBody.class).reason, MAX_REASON);
  }
}
