package io.seckill.consumer.web;

import io.seckill.support.web.SingleLine;

/** The reason that an operator gives for a change, on one line. */
public record Reason(String reason) {

  private static final int MAX_CHARS = 200;

  public Reason {
    reason = SingleLine.checked("reason", reason, MAX_CHARS);
  }
}
