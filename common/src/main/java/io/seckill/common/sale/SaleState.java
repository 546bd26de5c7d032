package io.seckill.common.sale;

import java.util.EnumSet;
import java.util.Set;

/**
 * {@code NEW -> PREHEATED -> OPEN <-> PAUSED -> CLOSED}; a sale that was never opened can be
 * closed, too, and a preheat leads back to PREHEATED.
 */
public enum SaleState {
  /** Never preheated: everything about the product may still be edited. */
  NEW,
  PREHEATED,
  OPEN,
  PAUSED,
  CLOSED;

  /** States that an operator may request; only a preheat leads to PREHEATED. */
  public static final Set<SaleState> REQUESTABLE = EnumSet.of(OPEN, PAUSED, CLOSED);

  /** States from which a sale may change to {@code target}; the target is not one of them. */
  public static Set<SaleState> before(SaleState target) {
    return switch (target) {
      case OPEN -> EnumSet.of(PREHEATED, PAUSED);
      case PAUSED -> EnumSet.of(OPEN);
      case CLOSED -> EnumSet.of(PREHEATED, OPEN, PAUSED);
      case NEW, PREHEATED -> EnumSet.noneOf(SaleState.class);
    };
  }

  /** Whether shoppers may be buying. */
  public boolean isRunning() {
    return this == OPEN || this == PAUSED;
  }
}
