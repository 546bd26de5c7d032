-- The order that each charge of the provider was first reported for: a charge pays for one order only.
CREATE TABLE payment_charge (
  charge_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  order_id  BIGINT      NOT NULL,
  PRIMARY KEY (charge_id)
) ENGINE = InnoDB;

INSERT INTO payment_charge (charge_id, order_id)
  SELECT charge_id, order_id FROM payment WHERE charge_id IS NOT NULL
  ON DUPLICATE KEY UPDATE order_id = payment_charge.order_id;

-- Reports of money that neither pay for an order nor can be refunded automatically: an operator decides.
CREATE TABLE unexplained_charge (
  id            BIGINT        NOT NULL AUTO_INCREMENT,
  -- SHA-256 of what was reported: one row per report, however often it is repeated.
  report_hash   BINARY(32)    NOT NULL,
  -- CHARGED, REFUNDED; NULL, with the four columns below, when the report was unreadable.
  kind          VARCHAR(8)    CHARACTER SET ascii COLLATE ascii_bin NULL,
  charge_id     VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NULL,
  order_id      BIGINT        NULL,
  amount_cents  BIGINT        NULL,
  -- NULL for the currency agreed with the provider.
  currency      CHAR(3)       CHARACTER SET ascii COLLATE ascii_bin NULL,
  reason        VARCHAR(24)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- The beginning of an unreadable report, else empty.
  detail        VARCHAR(1000) CHARACTER SET utf8mb4 NOT NULL,
  received_at   DATETIME(6)   NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  -- OPEN, CLOSED
  state         VARCHAR(6)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'OPEN',
  closed_by     VARCHAR(64)   NULL,
  closed_reason VARCHAR(200)  NULL,
  closed_at     DATETIME(6)   NULL,
  PRIMARY KEY (id),
  CONSTRAINT uk_unexplained_charge UNIQUE (report_hash),
  KEY ix_unexplained_charge_state (state, id),
  KEY ix_unexplained_charge_charge (charge_id)
) ENGINE = InnoDB;

-- payment_event is no longer used; an order-consumer of the version before still writes it for a while.
