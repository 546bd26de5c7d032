-- Dead letters of any length, kept to the last byte, so that a replay sends what came.

-- payload keeps the first 4,096 bytes, and that is all of every message that can be read. What is longer goes on here,
-- cut into parts that fit into any server's max_allowed_packet.
CREATE TABLE dead_letter_rest (
  letter_id BIGINT     NOT NULL,
  -- From 0, in their order.
  part      INT        NOT NULL,
  bytes     MEDIUMBLOB NOT NULL,
  PRIMARY KEY (letter_id, part)
) ENGINE = InnoDB;

ALTER TABLE dead_letter
  ADD COLUMN payload_bytes BIGINT NULL
    COMMENT 'Length of the whole message; NULL when it came before V6 and lost what followed its first 4,096 bytes',
  ADD COLUMN routing_key VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NULL
    COMMENT 'Of seckill.orders, with which it came; NULL when nobody knows';

UPDATE dead_letter SET payload_bytes = LENGTH(payload) WHERE payload_hash = UNHEX(SHA2(payload, 256));
