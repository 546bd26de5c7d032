package io.seckill.gateway.admin;

import io.seckill.support.web.SingleLine;
import io.seckill.support.web.StrictJson;
import org.jspecify.annotations.Nullable;

/** The body of a discard request: the reason why the order will never be stored. */
record DiscardBody(@Nullable String reason) {

  private static final int MAX_REASON = 200;

  /** Returns the reason, 1..200 characters on one line; fails with 400 otherwise. */
  static String checked(byte[] json) {
    return SingleLine.checked(
        "reason", StrictJson.read(json, DiscardBody.class).reason, MAX_REASON);
  }
}
