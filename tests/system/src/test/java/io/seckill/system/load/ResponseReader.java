package io.seckill.system.load;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Locale;

/**
 * Collects the bytes of one HTTP/1.1 response until it is complete. Supports Content-Length and
 * chunked bodies, not pipelining.
 */
final class ResponseReader {

  private static final int START_BYTES = 2_048;
  private static final String LAST_CHUNK = "0\r\n\r\n";

  private byte[] bytes = new byte[START_BYTES];
  private int length;
  private int headEnd;
  private int bodyLength;
  private boolean chunked;

  /** Adds received bytes; returns true once the response is complete. */
  boolean take(ByteBuffer arrived) {
    int more = arrived.remaining();
    if (length + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
    }
    arrived.get(bytes, length, more);
    length += more;
    if (headEnd == 0) {
      readHead();
    }
    return headEnd > 0 && isWhole();
  }

  int status() {
    return (bytes[9] - '0') * 100 + (bytes[10] - '0') * 10 + (bytes[11] - '0');
  }

  String body() {
    return LoadAnswer.text(bytes, headEnd, length);
  }

  void reset() {
    length = 0;
    headEnd = 0;
    bodyLength = 0;
    chunked = false;
  }

  private boolean isWhole() {
    return chunked
        ? LoadAnswer.text(bytes, headEnd, length).endsWith(LAST_CHUNK)
        : length - headEnd >= bodyLength;
  }

  private void readHead() {
    for (int i = 3; i < length; i++) {
      if (bytes[i] == '\n' && bytes[i - 2] == '\n' && bytes[i - 1] == '\r') {
        headEnd = i + 1;
        readHeaders(LoadAnswer.text(bytes, 0, headEnd).toLowerCase(Locale.ROOT));
        return;
      }
    }
  }

  private void readHeaders(String head) {
    int at = head.indexOf("\ncontent-length:");
    if (at >= 0) {
      int from = at + "\ncontent-length:".length();
      bodyLength = Integer.parseInt(head.substring(from, head.indexOf('\r', from)).strip());
    }
    chunked = head.contains("\ntransfer-encoding: chunked");
  }
}
