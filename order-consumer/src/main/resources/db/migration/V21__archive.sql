-- Finished sales leave the tables of running ones (docs/adr/0022-archive.md).
ALTER TABLE products
  ADD COLUMN archived BOOLEAN NOT NULL DEFAULT FALSE
    COMMENT 'whether the sale is over for good: Redis has nothing of it, and its orders are in order_history or on their way there',
  ADD KEY ix_products_archive (archived, closes_at);

-- How far the archive of a sale is.
CREATE TABLE archive (
  sku_id     BIGINT      NOT NULL,
  -- REDIS, ORDERS, REST: what is moved or removed now; DONE; PURGED when the history is deleted, too.
  phase      VARCHAR(8)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- The operator, or "schedule".
  started_by VARCHAR(64) NOT NULL,
  started_at DATETIME(6) NOT NULL,
  -- Moved so far.
  orders     BIGINT      NOT NULL DEFAULT 0,
  -- When it was DONE.
  done_at    DATETIME(6) NULL,
  PRIMARY KEY (sku_id),
  KEY ix_archive_phase (phase, done_at)
) ENGINE = InnoDB;

-- Rows of orders, order_alias and payment, as they were when their sale was archived: an order is in one of the two.
CREATE TABLE order_history (
  order_id         BIGINT      NOT NULL,
  user_id          BIGINT      NOT NULL,
  sku_id           BIGINT      NOT NULL,
  quantity         INT         NOT NULL,
  unit_price_cents BIGINT      NOT NULL,
  request_id       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status           VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reason           VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
  epoch            BIGINT      NOT NULL,
  seq              BIGINT      NOT NULL,
  admitted_at      DATETIME(3) NOT NULL,
  created_at       DATETIME(6) NOT NULL,
  updated_at       DATETIME(6) NOT NULL,
  PRIMARY KEY (order_id),
  CONSTRAINT uk_order_history_request UNIQUE (user_id, sku_id, request_id),
  KEY ix_order_history_user (user_id, order_id),
  KEY ix_order_history_sku (sku_id, order_id)
) ENGINE = InnoDB;

CREATE TABLE order_alias_history (
  order_id        BIGINT      NOT NULL,
  stored_order_id BIGINT      NOT NULL,
  created_at      DATETIME(6) NOT NULL,
  PRIMARY KEY (order_id),
  KEY ix_order_alias_history_stored (stored_order_id)
) ENGINE = InnoDB;

CREATE TABLE payment_history (
  order_id     BIGINT      NOT NULL,
  amount_cents BIGINT      NOT NULL,
  state        VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  charge_id    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  created_at   DATETIME(6) NOT NULL,
  updated_at   DATETIME(6) NOT NULL,
  PRIMARY KEY (order_id)
) ENGINE = InnoDB;

-- What is too old is found without reading the rest.
ALTER TABLE dead_letter ADD KEY ix_dead_letter_resolved (state, resolved_at);
ALTER TABLE payment_event ADD KEY ix_payment_event_received (received_at);
ALTER TABLE daily_audit ADD KEY ix_daily_audit_sku (sku_id, day);
