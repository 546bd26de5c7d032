-- How many findings of a run were repaired; the table repair has the first 1,000 findings.
ALTER TABLE reconciliation ADD COLUMN made INT NOT NULL DEFAULT 0;
UPDATE reconciliation r SET made =
  (SELECT COUNT(*) FROM repair x WHERE x.reconciliation_id = r.id AND x.made) WHERE r.findings > 0;
