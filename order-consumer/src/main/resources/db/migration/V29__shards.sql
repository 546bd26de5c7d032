-- Stock shards (docs/adr/0028): the shards of a SKU are products of their own, and the SKU's own row, whose phase is
-- SHARDED, keeps the units of no shard in its stock.
ALTER TABLE products
  ADD COLUMN shards TINYINT NOT NULL DEFAULT 1 COMMENT '1, 2, 4, 8 or 16; of a shard 1',
  ADD CONSTRAINT ck_products_shards CHECK (shards IN (1, 2, 4, 8, 16));
ALTER TABLE products
  MODIFY COLUMN sale_phase VARCHAR(9) CHARACTER SET ascii COLLATE ascii_bin
    GENERATED ALWAYS AS (CASE
      WHEN fallback = 'NO' THEN IF(decides = 'REDIS', IF(shards > 1, 'SHARDED', 'REDIS'), 'STRONG')
      WHEN fallback = 'ACTIVE' THEN 'MYSQL'
      ELSE fallback END) VIRTUAL
    COMMENT 'REDIS, STRONG, ENTERING, MYSQL, LOADING, RETURNING or SHARDED';
