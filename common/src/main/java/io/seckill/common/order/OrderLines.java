package io.seckill.common.order;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Several order messages in one message of the broker, whose cost is per message: one on each line.
 * An order message has no line feed of its own; an end of line between two objects is the border.
 */
public final class OrderLines {

  /** Bounds what a consumer holds for each message that it has not acked. */
  public static final int MOST_ORDERS = 16;

  private OrderLines() {}

  /** Joins 1..{@value #MOST_ORDERS} order messages; {@link #split} returns them. */
  public static byte[] join(List<byte[]> messages) {
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (byte[] message : messages) {
      if (lines.size() > 0) {
        lines.write('\n');
      }
      lines.writeBytes(message);
    }
    return lines.toByteArray();
  }

  /** Returns the body itself when it has one part, or more than {@link #join} writes. */
  public static List<byte[]> split(byte[] body) {
    List<byte[]> parts = new ArrayList<>();
    int start = 0;
    for (int i = 1; i < body.length - 1; i++) {
      if (body[i] == '\n' && body[i - 1] == '}' && body[i + 1] == '{') {
        parts.add(Arrays.copyOfRange(body, start, i));
        start = i + 1;
      }
    }
    if (parts.isEmpty() || parts.size() >= MOST_ORDERS) {
      return List.of(body);
    }
    parts.add(Arrays.copyOfRange(body, start, body.length));
    return parts;
  }
}
