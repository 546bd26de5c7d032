package io.seckill.common.order;

/** Why MySQL, or an operator, refused an order that Redis had admitted. */
public enum RejectReason {
  /** The stock guard in MySQL refused the order: Redis had more units than MySQL. */
  SOLD_OUT('S'),
  /** MySQL's quota or one-per-user key refused the order: Redis had counted too few units. */
  QUOTA_EXCEEDED('Q'),
  /** An operator discarded its dead letter. */
  DISCARDED('D');

  private final char letter;

  RejectReason(char letter) {
    this.letter = letter;
  }

  public char letter() {
    return letter;
  }

  /** Throws IllegalArgumentException for a letter no reason has. */
  public static RejectReason ofLetter(char letter) {
    for (RejectReason reason : values()) {
      if (reason.letter == letter) {
        return reason;
      }
    }
    throw new IllegalArgumentException("no reject reason has the letter " + letter);
  }
}
