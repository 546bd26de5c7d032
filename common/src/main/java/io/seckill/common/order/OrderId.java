package io.seckill.common.order;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Snowflake id of one order: 41 bits of milliseconds since {@link #EPOCH_MS}, 4 bits of partition,
 * 8 bits of worker, 10 bits of sequence. The text form is decimal. JSON and Redis carry the text
 * form, because a JavaScript or Lua number cannot hold all 63 bits.
 *
 * @param value 1..2^63-1
 */
public record OrderId(long value) implements Comparable<OrderId> {

  /** 2025-01-01T00:00:00Z; 41 bits reach to 2094. */
  public static final long EPOCH_MS = 1_735_689_600_000L;

  public static final int PARTITION_BITS = 4;
  public static final int WORKER_BITS = 8;
  public static final int SEQUENCE_BITS = 10;

  /** Worker number of ids that order-consumer makes, for orders of strong sales. */
  public static final int MYSQL_WORKER = (1 << WORKER_BITS) - 1;

  private static final int WORKER_SHIFT = SEQUENCE_BITS;
  private static final int PARTITION_SHIFT = WORKER_SHIFT + WORKER_BITS;

  /** Bits below the time. */
  public static final int TIME_SHIFT = PARTITION_SHIFT + PARTITION_BITS;

  public OrderId {
    if (value <= 0) {
      throw new IllegalArgumentException("order id must be positive but is " + value);
    }
  }

  /**
   * Composes an id.
   *
   * @param timeMs Unix time in ms, after {@link #EPOCH_MS}
   * @param partition 0..15
   * @param worker 0..255
   * @param sequence 0..1023
   */
  public static OrderId of(long timeMs, int partition, int worker, int sequence) {
    return new OrderId(
        ((timeMs - EPOCH_MS) << TIME_SHIFT)
            | ((long) partition << PARTITION_SHIFT)
            | ((long) worker << WORKER_SHIFT)
            | sequence);
  }

  /**
   * Parses the decimal form: digits only, no sign, no leading zero.
   *
   * @throws IllegalArgumentException when the text is anything else
   */
  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public static OrderId parse(String text) {
    long value = WholeNumber.positive(text);
    if (value == 0) {
      throw new IllegalArgumentException("not an order id");
    }
    return new OrderId(value);
  }

  public int partition() {
    return (int) (value >>> PARTITION_SHIFT) & ((1 << PARTITION_BITS) - 1);
  }

  public int worker() {
    return (int) (value >>> WORKER_SHIFT) & ((1 << WORKER_BITS) - 1);
  }

  /** Whether this is an order of a strong sale: only MySQL has it, Redis never does. */
  public boolean isDecidedByMySql() {
    return worker() == MYSQL_WORKER;
  }

  /** Unix time in ms at which the id was generated, by the clock of the process that did. */
  public long timeMs() {
    return (value >>> TIME_SHIFT) + EPOCH_MS;
  }

  @Override
  public int compareTo(OrderId other) {
    return Long.compare(value, other.value);
  }

  @Override
  @JsonValue
  public String toString() {
    return Long.toString(value);
  }
}
