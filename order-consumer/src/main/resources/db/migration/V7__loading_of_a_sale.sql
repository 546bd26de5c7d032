-- How a sale is loaded into Redis beside its rules: written by each preheat, read by a rebuild.
ALTER TABLE products
  ADD COLUMN max_per_order INT NOT NULL DEFAULT 100 COMMENT 'most units of one order',
  ADD COLUMN retention_s INT NOT NULL DEFAULT 172800 COMMENT 'seconds that Redis keeps the sale after its closing';
