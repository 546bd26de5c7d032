-- The ledger of record. Written only by order-consumer; the gateway reads it.
-- Runs on MySQL 9 and MariaDB 10.11: named CHECK constraints, no RETURNING, no row aliases.

CREATE TABLE products (
  sku_id         BIGINT       NOT NULL,
  name           VARCHAR(200) NOT NULL,
  price_cents    BIGINT       NOT NULL,
  -- Units still sellable; every stored order takes from here, guarded by stock >= n.
  stock          BIGINT       NOT NULL,
  -- Opening stock + added - withdrawn: S of the conservation equation.
  initial_stock  BIGINT       NOT NULL,
  policy         VARCHAR(16)  NOT NULL,
  -- LIMITED: units per user; ONE_PER_USER: 1; UNLIMITED: 0, no quota.
  limit_per_user INT          NOT NULL,
  opens_at       DATETIME(3)  NOT NULL,
  closes_at      DATETIME(3)  NOT NULL,
  -- NEW until the first preheat, then PREHEATED, OPEN, PAUSED, CLOSED.
  state          VARCHAR(16)  NOT NULL DEFAULT 'NEW',
  -- Raised by every preheat and rebuild; 0 before the first.
  epoch          BIGINT       NOT NULL DEFAULT 0,
  -- Highest admission sequence stored.
  last_seq       BIGINT       NOT NULL DEFAULT 0,
  -- Orders settled (stored, rejected, aliased or discarded); set to last_seq by a preheat.
  settled        BIGINT       NOT NULL DEFAULT 0,
  PRIMARY KEY (sku_id),
  CONSTRAINT ck_products_stock CHECK (stock >= 0),
  CONSTRAINT ck_products_price CHECK (price_cents >= 0),
  CONSTRAINT ck_products_limit CHECK (limit_per_user >= 0)
) ENGINE = InnoDB;

CREATE TABLE orders (
  order_id         BIGINT      NOT NULL,
  user_id          BIGINT      NOT NULL,
  sku_id           BIGINT      NOT NULL,
  quantity         INT         NOT NULL,
  unit_price_cents BIGINT      NOT NULL,
  -- Idempotency key of the purchase; case counts.
  request_id       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status           VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reason           VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- The user for a CONFIRMED or PAID order of a ONE_PER_USER SKU, else NULL: uk_user_sku lets one through.
  single_buyer     BIGINT      NULL,
  epoch            BIGINT      NOT NULL,
  seq              BIGINT      NOT NULL,
  admitted_at      DATETIME(3) NOT NULL,
  created_at       DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  updated_at       DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  PRIMARY KEY (order_id),
  CONSTRAINT uk_user_request UNIQUE (user_id, sku_id, request_id),
  CONSTRAINT uk_user_sku UNIQUE (sku_id, single_buyer),
  CONSTRAINT ck_orders_quantity CHECK (quantity >= 1)
) ENGINE = InnoDB;

-- A second order id for a request that MySQL had stored already (Redis had lost the first).
CREATE TABLE order_alias (
  order_id        BIGINT      NOT NULL,
  stored_order_id BIGINT      NOT NULL,
  created_at      DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (order_id)
) ENGINE = InnoDB;

-- Units a user owns of a SKU (CONFIRMED and PAID); no rows for UNLIMITED.
CREATE TABLE user_quota (
  user_id     BIGINT NOT NULL,
  sku_id      BIGINT NOT NULL,
  owned_count INT    NOT NULL,
  limit_units INT    NOT NULL,
  PRIMARY KEY (user_id, sku_id),
  CONSTRAINT ck_user_quota_limit CHECK (owned_count <= limit_units),
  CONSTRAINT ck_user_quota_floor CHECK (owned_count >= 0)
) ENGINE = InnoDB;

-- Units owed to Redis, written in the transaction that made them free; done_at once Redis has them.
CREATE TABLE compensation (
  order_id    BIGINT      NOT NULL,
  sku_id      BIGINT      NOT NULL,
  user_id     BIGINT      NOT NULL,
  epoch       BIGINT      NOT NULL,
  stock_units INT         NOT NULL,
  quota_units INT         NOT NULL,
  created_at  DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  done_at     DATETIME(6) NULL,
  PRIMARY KEY (order_id),
  KEY ix_compensation_pending (done_at, order_id)
) ENGINE = InnoDB;

-- Messages given up on, kept until an operator replays or discards them.
CREATE TABLE dead_letter (
  id              BIGINT         NOT NULL AUTO_INCREMENT,
  -- NULL when the message was unreadable.
  order_id        BIGINT         NULL,
  sku_id          BIGINT         NULL,
  user_id         BIGINT         NULL,
  payload         VARBINARY(4096) NOT NULL,
  -- SHA-256 of the payload: one open row per message.
  payload_hash    BINARY(32)     NOT NULL,
  reason          VARCHAR(40)    NOT NULL,
  detail          VARCHAR(500)   NOT NULL,
  attempts        INT            NOT NULL,
  first_failed_at DATETIME(3)    NOT NULL,
  last_failed_at  DATETIME(3)    NOT NULL,
  -- OPEN, REPLAYED, DISCARDED
  state           VARCHAR(10)    NOT NULL DEFAULT 'OPEN',
  resolved_by     VARCHAR(64)    NULL,
  resolved_reason VARCHAR(200)   NULL,
  resolved_at     DATETIME(6)    NULL,
  PRIMARY KEY (id),
  CONSTRAINT uk_dead_letter_payload UNIQUE (payload_hash),
  KEY ix_dead_letter_state (state, id),
  KEY ix_dead_letter_order (order_id)
) ENGINE = InnoDB;

-- Units added to or withdrawn from a sale, once per change id; drives both halves, MySQL and Redis.
CREATE TABLE stock_change (
  sku_id     BIGINT       NOT NULL,
  change_id  VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Positive adds, negative withdraws.
  delta      BIGINT       NOT NULL,
  reason     VARCHAR(200) NOT NULL,
  operator   VARCHAR(64)  NOT NULL,
  epoch      BIGINT       NOT NULL,
  -- PENDING, MYSQL_DONE (addition half way), REDIS_DONE (withdrawal half way), DONE, REFUSED
  state      VARCHAR(12)  NOT NULL DEFAULT 'PENDING',
  created_at DATETIME(6)  NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  updated_at DATETIME(6)  NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
  PRIMARY KEY (sku_id, change_id),
  KEY ix_stock_change_state (state)
) ENGINE = InnoDB;
