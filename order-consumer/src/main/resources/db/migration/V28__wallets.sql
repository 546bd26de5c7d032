-- Balances that pay for orders (docs/adr/0027-wallets.md). A user without a row has balance 0.
CREATE TABLE wallet (
  user_id       BIGINT     NOT NULL,
  -- The sum of the user's entries, in minor units.
  balance_cents BIGINT     NOT NULL,
  -- Number of the latest entry.
  seq           BIGINT     NOT NULL,
  -- The entries up to this one were found to be right.
  verified_seq  BIGINT     NOT NULL DEFAULT 0,
  -- ACTIVE, FROZEN: pays nothing
  state         VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (user_id),
  CONSTRAINT ck_wallet_balance CHECK (balance_cents BETWEEN 0 AND 100000000000000000)
) ENGINE = InnoDB;

-- Every movement of money; rows never change. The house account of the kind has the opposite amount.
CREATE TABLE wallet_entry (
  user_id       BIGINT       NOT NULL,
  seq           BIGINT       NOT NULL,
  -- RECHARGE, CHARGE, REFUND, ADJUST
  kind          VARCHAR(8)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  amount_cents  BIGINT       NOT NULL,
  balance_after BIGINT       NOT NULL,
  request_id    VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Of CHARGE and REFUND.
  charge_id     BIGINT       NULL,
  reason        VARCHAR(100) CHARACTER SET utf8mb4 NULL,
  created_at    DATETIME(6)  NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (user_id, seq),
  CONSTRAINT uk_wallet_request UNIQUE (user_id, request_id),
  CONSTRAINT ck_wallet_entry CHECK (amount_cents <> 0 AND balance_after >= 0)
) ENGINE = InnoDB;

-- What may be refunded. The charge of an order has the order's id.
CREATE TABLE wallet_charge (
  charge_id      BIGINT  NOT NULL,
  -- 0 when it was closed before anything was charged.
  user_id        BIGINT  NOT NULL,
  amount_cents   BIGINT  NOT NULL,
  refunded_cents BIGINT  NOT NULL,
  -- Whether it is over for good.
  closed         BOOLEAN NOT NULL,
  PRIMARY KEY (charge_id),
  CONSTRAINT ck_wallet_refunded CHECK (refunded_cents BETWEEN 0 AND amount_cents)
) ENGINE = InnoDB;

-- The latest check, one row.
CREATE TABLE wallet_check (
  id          INT           NOT NULL,
  checked_at  DATETIME(6)   NOT NULL,
  -- Whether every entry was read, and not only those after verified_seq.
  whole       BOOLEAN       NOT NULL,
  wallets     BIGINT        NOT NULL,
  entries     BIGINT        NOT NULL,
  differences INT           NOT NULL,
  -- The differences, one per line.
  detail      VARCHAR(2000) NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB;
