-- A gateway did not hand over, and the reserve took all stock: nobody may buy what is returned.
ALTER TABLE products
  ADD COLUMN reserves_all BOOLEAN NOT NULL DEFAULT FALSE
    COMMENT 'whether the last fallback began with all stock reserved, for orders that nobody knows';
