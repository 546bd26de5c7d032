-- When the last step of an archive was made; one that has stood still for long fails.
ALTER TABLE archive ADD COLUMN stepped_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6);
