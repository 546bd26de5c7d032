package io.seckill.gateway.admin;

import io.seckill.gateway.web.JsonBody;
import org.jspecify.annotations.Nullable;

/** The body of a discard: why nobody will see this order stored. */
record DiscardBody(@Nullable String reason) {

  private static final int MAX_REASON = 200;

  /** 1..200 characters of one line; 400 otherwise. */
  static String checked(byte[] json) {
    return Texts.line("reason", JsonBody.read(json, DiscardBody.class).reason, MAX_REASON);
  }
}
