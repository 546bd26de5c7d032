-- Executed by AppendOnlyEntries: entries of wallets never change.
CREATE TRIGGER IF NOT EXISTS wallet_entry_no_update BEFORE UPDATE ON wallet_entry FOR EACH ROW
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'entries of wallets never change: correct a balance by ADJUST; to restore an edited entry, drop this trigger';
CREATE TRIGGER IF NOT EXISTS wallet_entry_no_delete BEFORE DELETE ON wallet_entry FOR EACH ROW
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'entries of wallets never change, and none is deleted';
