-- What follows CONFIRMED: payments, and finding orders whose payment time is over.

-- Both columns grow with the time of storing, so inserts append; only unpaid orders stay CONFIRMED.
CREATE INDEX ix_orders_status ON orders (status, created_at);

-- What we asked the payment provider for, written before it is asked: a crash in between is found.
CREATE TABLE payment (
  order_id     BIGINT      NOT NULL,
  amount_cents BIGINT      NOT NULL,
  -- STARTED, DECLINED (may be started again), CHARGED (the order is PAID),
  -- REFUND_DUE (the order had ended otherwise), REFUNDED
  state        VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  charge_id    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  created_at   DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  updated_at   DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  PRIMARY KEY (order_id),
  KEY ix_payment_state (state, updated_at)
) ENGINE = InnoDB;

-- Callbacks of the provider that had their effect; a replayed one has none.
CREATE TABLE payment_event (
  event_id    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  order_id    BIGINT      NOT NULL,
  received_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (event_id)
) ENGINE = InnoDB;

-- The book of the simulated provider: it must remember across restarts, as a real one does.
CREATE TABLE simulated_charge (
  order_id     BIGINT      NOT NULL,
  amount_cents BIGINT      NOT NULL,
  -- CHARGED, REFUNDED (also an order refused for good before any charge)
  state        VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (order_id)
) ENGINE = InnoDB;
