-- Which events an endpoint gets: kinds and providers of alerts, each separated by commas, of no provider for all.
ALTER TABLE endpoint ADD COLUMN events TEXT NOT NULL DEFAULT 'alert.created,alert.resolved';
ALTER TABLE endpoint ADD COLUMN providers TEXT NOT NULL DEFAULT '';
-- The template of the bodies of events about the work; empty for none.
ALTER TABLE endpoint ADD COLUMN template TEXT NOT NULL DEFAULT '';
-- How long before its deadline an alert is called.
ALTER TABLE endpoint ADD COLUMN minutes INTEGER NOT NULL DEFAULT 30;
-- Whether others were told that it fails, since its last success.
ALTER TABLE endpoint ADD COLUMN failure_reported INTEGER NOT NULL DEFAULT 0 CHECK (failure_reported IN (0, 1));
