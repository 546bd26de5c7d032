-- When the fallback's term began. A gateway may transfer its promises after MySQL began to decide: what MySQL sold meanwhile is
-- counted by the ids of orders since then. Of a term that began before this column, from the first id on.
ALTER TABLE fallback
  ADD COLUMN entered_at DATETIME(6) NOT NULL DEFAULT '2025-01-02 00:00:00';
