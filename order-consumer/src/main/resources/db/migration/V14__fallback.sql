-- Fallback: while Redis cannot decide, MySQL does (docs/adr/0021-fallback.md).
ALTER TABLE products
  ADD COLUMN fallback VARCHAR(9) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'NO'
    COMMENT 'NO, ENTERING, ACTIVE or RETURNING: a sale of Redis that MySQL decides for a while',
  ADD COLUMN reserved_units BIGINT NOT NULL DEFAULT 0
    COMMENT 'of stock: for orders that Redis may have promised and MySQL has not seen';

CREATE TABLE fallback (
  id                  TINYINT     NOT NULL,
  -- REDIS, ENTERING, MYSQL or RETURNING.
  state               VARCHAR(9)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Raised whenever a fallback begins.
  term                BIGINT      NOT NULL,
  -- An operator, or "automatic"; NULL before the first.
  started_by          VARCHAR(64) NULL,
  changed_at          DATETIME(6) NOT NULL,
  -- A gateway's breaker opens at both within a second.
  failure_percent     INT         NOT NULL,
  failures_per_second INT         NOT NULL,
  -- Of what was unsold, in place of what gateways that did not answer may have promised.
  reserve_percent     INT         NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT ck_fallback_one CHECK (id = 1)
) ENGINE = InnoDB;

INSERT INTO fallback VALUES (1, 'REDIS', 0, NULL, NOW(6), 50, 3, 100);

-- Gateways that may promise orders, by their last heartbeat.
CREATE TABLE gateway_node (
  token               CHAR(32)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name                VARCHAR(64) NOT NULL,
  -- off, manual or automatic.
  mode                VARCHAR(9)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Since this term it has promised nothing.
  term                BIGINT      NOT NULL,
  -- Of this term it has handed over everything.
  handed_over         BIGINT      NOT NULL DEFAULT 0,
  -- Whether it had not forgotten an order then.
  complete            BOOLEAN     NOT NULL DEFAULT FALSE,
  redis_usable        BOOLEAN     NOT NULL,
  -- For how long that was so when it was heard.
  for_ms              BIGINT      NOT NULL,
  breaker             VARCHAR(9)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  failure_percent     INT         NOT NULL,
  failures_per_second INT         NOT NULL,
  heard_at            DATETIME(6) NOT NULL,
  PRIMARY KEY (token)
) ENGINE = InnoDB;

-- Units that Redis was known to have admitted when a fallback began.
CREATE TABLE admitted_units (
  sku_id BIGINT NOT NULL,
  epoch  BIGINT NOT NULL,
  units  BIGINT NOT NULL,
  PRIMARY KEY (sku_id)
) ENGINE = InnoDB;
