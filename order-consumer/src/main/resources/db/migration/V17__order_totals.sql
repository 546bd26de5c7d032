-- What became of a SKU's orders, kept by the transactions that decide them: nobody counts a sale's orders.
CREATE TABLE order_total (
  sku_id BIGINT      NOT NULL,
  -- CONFIRMED counts every order that ever was; PAID, CANCELLED and EXPIRED those of them that moved on;
  -- REJECTED and ALIASES the others.
  fate   VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  orders BIGINT      NOT NULL,
  units  BIGINT      NOT NULL,
  PRIMARY KEY (sku_id, fate)
) ENGINE = InnoDB;

INSERT INTO order_total
SELECT sku_id, status, COUNT(*), SUM(quantity) FROM orders
WHERE status IN ('PAID', 'CANCELLED', 'EXPIRED', 'REJECTED') GROUP BY sku_id, status
UNION ALL
SELECT sku_id, 'CONFIRMED', COUNT(*), SUM(quantity) FROM orders WHERE status <> 'REJECTED' GROUP BY sku_id
UNION ALL
SELECT g.sku_id, 'ALIASES', COUNT(*), SUM(g.stock_units)
FROM order_alias a STRAIGHT_JOIN compensation g ON g.order_id = a.order_id GROUP BY g.sku_id;

-- A SKU's orders page by page, in the order of their ids. Statuses are not in it: a payment or an end
-- changes the row alone.
ALTER TABLE orders DROP INDEX ix_orders_sku, ADD INDEX ix_orders_sku (sku_id, order_id);

CREATE INDEX ix_order_alias_stored ON order_alias (stored_order_id);

-- The quotas of a SKU together: reading one sale touches no other.
ALTER TABLE user_quota DROP PRIMARY KEY, ADD PRIMARY KEY (sku_id, user_id);
