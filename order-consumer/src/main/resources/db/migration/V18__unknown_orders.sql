-- A sale that Redis has lost keeps no gateway registered that has ended.
ALTER TABLE admitted_units
  ADD COLUMN unknown_orders BOOLEAN NOT NULL DEFAULT FALSE
    COMMENT 'whether a gateway that ended may have promised orders that no look at Redis has shown';
