-- Who a caller says to be: beside the credential in the audit log, and with a decision until its outcome is put down.
ALTER TABLE audit ADD COLUMN person TEXT NOT NULL DEFAULT '';
ALTER TABLE resolution_attempt ADD COLUMN person TEXT NOT NULL DEFAULT '';
