-- Orders of a former epoch that are stored late are among those that MySQL has decided, but not among those that Redis has
-- admitted since: the reserve of a fallback does not shrink by them.
ALTER TABLE admitted_units
  ADD COLUMN late_units BIGINT NOT NULL DEFAULT 0 COMMENT 'of orders of former epochs, stored in this one';
