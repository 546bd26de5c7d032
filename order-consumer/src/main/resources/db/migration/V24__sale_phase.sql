-- Who decides the purchases of a sale now, in one column: SalePhase. Adding it copies no row; former releases go on
-- reading the two columns that it is made of, and this one writes them.
ALTER TABLE products
  ADD COLUMN sale_phase VARCHAR(9) CHARACTER SET ascii COLLATE ascii_bin
    GENERATED ALWAYS AS (CASE
      WHEN fallback = 'NO' THEN IF(decides = 'REDIS', 'REDIS', 'STRONG')
      WHEN fallback = 'ACTIVE' THEN 'MYSQL'
      ELSE fallback END) VIRTUAL
    COMMENT 'REDIS, STRONG, ENTERING, MYSQL or RETURNING';
