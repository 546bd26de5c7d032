-- One complete count per sale and day: it proves what is otherwise kept as sums.
CREATE TABLE daily_audit (
  day              DATE         NOT NULL,
  sku_id           BIGINT       NOT NULL,
  state            VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Opening stock + added - withdrawn.
  units            BIGINT       NOT NULL,
  stock            BIGINT       NOT NULL,
  confirmed_orders BIGINT       NOT NULL,
  confirmed_units  BIGINT       NOT NULL,
  paid_orders      BIGINT       NOT NULL,
  paid_units       BIGINT       NOT NULL,
  cancelled_orders BIGINT       NOT NULL,
  cancelled_units  BIGINT       NOT NULL,
  expired_orders   BIGINT       NOT NULL,
  expired_units    BIGINT       NOT NULL,
  rejected_orders  BIGINT       NOT NULL,
  rejected_units   BIGINT       NOT NULL,
  charged_cents    BIGINT       NOT NULL,
  refunded_cents   BIGINT       NOT NULL,
  refunds_due      BIGINT       NOT NULL,
  -- Repairs that reconciliations made on this day.
  repairs          BIGINT       NOT NULL,
  differences      INT          NOT NULL,
  -- The differences, one per line.
  detail           VARCHAR(2000) NOT NULL,
  made_at          DATETIME(6)  NOT NULL,
  PRIMARY KEY (day, sku_id)
) ENGINE = InnoDB;
