-- Counts the changes of a sale's state: Redis follows a state only when it has not followed a later one.
ALTER TABLE products
  ADD COLUMN state_version BIGINT NOT NULL DEFAULT 0 COMMENT 'changes of state so far';
