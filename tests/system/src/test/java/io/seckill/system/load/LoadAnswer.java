package io.seckill.system.load;

import java.nio.charset.StandardCharsets;

/**
 * One answer to one request of a {@link Loader}.
 *
 * @param index of the request, from 0
 * @param status HTTP status
 * @param body at most the first few hundred bytes, as Latin-1
 * @param dueNanos when the request was due, {@link System#nanoTime}
 * @param latencyNanos from then to the last byte of the answer
 */
public record LoadAnswer(long index, int status, String body, long dueNanos, long latencyNanos) {

  private static final String ORDER_ID = "\"orderId\":\"";

  /** The order id of an accepted purchase; empty when the body has none. */
  public String orderId() {
    int start = body.indexOf(ORDER_ID);
    if (start < 0) {
      return "";
    }
    int from = start + ORDER_ID.length();
    return body.substring(from, body.indexOf('"', from));
  }

  /** Returns the same answer with the index of another request. */
  public LoadAnswer ofRequest(long number) {
    return new LoadAnswer(number, status, body, dueNanos, latencyNanos);
  }

  static String text(byte[] bytes, int from, int to) {
    return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
  }
}
