-- Comparing Redis with MySQL, and what was set right.

-- A message that follows all orders published before it through their queue; passed_at once everything
-- before it is in MySQL.
CREATE TABLE barrier (
  barrier_id BIGINT      NOT NULL AUTO_INCREMENT,
  raised_at  DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  passed_at  DATETIME(6) NULL,
  PRIMARY KEY (barrier_id)
) ENGINE = InnoDB;

-- One comparison that somebody asked for, or that found something.
CREATE TABLE reconciliation (
  id         BIGINT       NOT NULL AUTO_INCREMENT,
  sku_id     BIGINT       NOT NULL,
  -- The operator, or "schedule".
  started_by VARCHAR(64)  NOT NULL,
  dry_run    BOOLEAN      NOT NULL,
  outcome    VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  detail     VARCHAR(300) NOT NULL,
  -- The sale's epoch when it ended.
  epoch      BIGINT       NOT NULL,
  findings   INT          NOT NULL,
  started_at DATETIME(6)  NOT NULL,
  ended_at   DATETIME(6)  NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (id),
  KEY ix_reconciliation_sku (sku_id, id)
) ENGINE = InnoDB;

-- One thing that was set right, or in a dry run would have been.
CREATE TABLE repair (
  id                BIGINT       NOT NULL AUTO_INCREMENT,
  reconciliation_id BIGINT       NOT NULL,
  kind              VARCHAR(40)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Order id, user, or SKU.
  subject           VARCHAR(40)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  found             VARCHAR(200) NOT NULL,
  wanted            VARCHAR(200) NOT NULL,
  made              BOOLEAN      NOT NULL,
  PRIMARY KEY (id),
  KEY ix_repair_reconciliation (reconciliation_id, id)
) ENGINE = InnoDB;

CREATE INDEX ix_compensation_sku ON compensation (sku_id, epoch);
