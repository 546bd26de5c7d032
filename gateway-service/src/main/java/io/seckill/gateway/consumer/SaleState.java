package io.seckill.gateway.consumer;

/** Where a sale stands: {@code NEW -> PREHEATED -> OPEN <-> PAUSED -> CLOSED}, OPEN -> CLOSED. */
public enum SaleState {
  /** Known to MySQL only. */
  NEW,
  PREHEATED,
  OPEN,
  PAUSED,
  CLOSED
}
