-- Wallets with entries that no check has read yet: the hourly check finds them without reading the others. Neither statement
-- copies a row. A charge changes the index only if it is the first entry since a check.
ALTER TABLE wallet ADD COLUMN unverified BOOLEAN GENERATED ALWAYS AS (seq > verified_seq) VIRTUAL;
ALTER TABLE wallet ADD KEY ix_wallet_unverified (unverified, user_id);
