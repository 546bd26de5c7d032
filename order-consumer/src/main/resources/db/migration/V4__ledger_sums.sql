-- The ledger sums a SKU's orders by status every few seconds during a sale: from this index alone.
CREATE INDEX ix_orders_sku ON orders (sku_id, status, quantity);
