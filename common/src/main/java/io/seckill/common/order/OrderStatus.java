package io.seckill.common.order;

/**
 * Status of an order. {@code QUEUED (DELAYED) -> CONFIRMED -> PAID | CANCELLED | EXPIRED}, or
 * {@code QUEUED -> REJECTED}; a status never goes back, see {@link #replaces}.
 */
public enum OrderStatus {
  /** Admitted in Redis, not yet in MySQL. */
  QUEUED('Q', 0),
  /** Storing it failed too often; kept as a dead letter until an operator decides. */
  DELAYED('D', 1),
  /** Stored in MySQL; the units are reserved for the shopper until the payment time runs out. */
  CONFIRMED('C', 2),
  PAID('P', 3),
  CANCELLED('X', 3),
  EXPIRED('E', 3),
  /** Refused for good after the admission; see {@link RejectReason}. */
  REJECTED('R', 3);

  private final char letter;
  private final int finality;

  OrderStatus(char letter, int finality) {
    this.letter = letter;
    this.finality = finality;
  }

  /** The one letter that stands for this status in the admission record. */
  public char letter() {
    return letter;
  }

  /** Whether a result of this status may be written over an earlier one. */
  public boolean replaces(OrderStatus earlier) {
    return finality > earlier.finality;
  }

  /** Whether no other status can follow: PAID, CANCELLED, EXPIRED, REJECTED. */
  public boolean isFinal() {
    return finality == 3;
  }

  /** Whether the order is over and holds no units: CANCELLED, EXPIRED, REJECTED. */
  public boolean hasEnded() {
    return isFinal() && this != PAID;
  }

  /** Throws IllegalArgumentException for a letter no status has. */
  public static OrderStatus ofLetter(char letter) {
    for (OrderStatus status : values()) {
      if (status.letter == letter) {
        return status;
      }
    }
    throw new IllegalArgumentException("no order status has the letter " + letter);
  }
}
