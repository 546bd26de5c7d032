package io.seckill.gateway.consumer;

/** State of a sale: {@code NEW -> PREHEATED -> OPEN <-> PAUSED -> CLOSED}, OPEN -> CLOSED. */
public enum SaleState {
  /** Known to MySQL only. */
  NEW,
  PREHEATED,
  OPEN,
  PAUSED,
  CLOSED
}
