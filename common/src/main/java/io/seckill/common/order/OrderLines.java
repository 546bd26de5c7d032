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

  /**
   * Whether {@link #split} finds the borders of this order message: a reader of JSON permits white
   * space around it, and entries made by hand may have some.
   */
  public static boolean isLine(byte[] message) {
    return message.length > 0 && message[0] == '{' && message[message.length - 1] == '}';
  }

  /**
   * Joins order messages, 1..{@value #MOST_ORDERS}, all of them as {@link #isLine} asks for; {@link
   * #split} returns them.
   */
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
