-- stock_change.state: a withdrawal asks Redis while PENDING (REDIS_DONE is never used), and is UNDOING
-- when MySQL refuses what Redis gave.
ALTER TABLE stock_change
  MODIFY state VARCHAR(12) NOT NULL DEFAULT 'PENDING'
  COMMENT 'PENDING, MYSQL_DONE, UNDOING, DONE, REFUSED';
