-- Strong sales: MySQL decides each purchase while the shopper waits.
ALTER TABLE products
  ADD COLUMN decides VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'REDIS'
    COMMENT 'REDIS or MYSQL; fixed at the first preheat';

-- From which time the next block of ids for orders of strong sales may begin: each process takes a block of milliseconds.
CREATE TABLE order_id_block (
  id      TINYINT NOT NULL,
  -- Unix time in ms; all earlier ones are taken.
  next_ms BIGINT  NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT ck_order_id_block_one CHECK (id = 1)
) ENGINE = InnoDB;

INSERT INTO order_id_block (id, next_ms) VALUES (1, 0);
