-- A Redis server that has fewer changes of a sale's stock than this has lost some, as one with fewer orders than last_seq.
ALTER TABLE products
  ADD COLUMN change_seq BIGINT NOT NULL DEFAULT 0 COMMENT 'stock changes of this epoch that Redis has had, at least';
