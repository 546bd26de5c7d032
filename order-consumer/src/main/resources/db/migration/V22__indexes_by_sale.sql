-- What is read for one sale, or is recent, costs by that and not by what other sales and years have left.
ALTER TABLE dead_letter ADD KEY ix_dead_letter_sku (sku_id, state);
ALTER TABLE barrier ADD KEY ix_barrier_raised (raised_at);
ALTER TABLE reconciliation ADD KEY ix_reconciliation_started (sku_id, started_at);
ALTER TABLE products ADD KEY ix_products_fallback (fallback);
ALTER TABLE admitted_units ADD KEY ix_admitted_units_unknown (unknown_orders);
