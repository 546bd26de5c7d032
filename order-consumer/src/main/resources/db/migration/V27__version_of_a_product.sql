-- How often operators have changed a product. Adding it copies no row; a former release leaves it as it is.
ALTER TABLE products ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
