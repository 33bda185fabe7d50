-- The certificates (PEM) that are trusted at an endpoint in place of this machine's authorities; empty for those.
ALTER TABLE endpoint ADD COLUMN ca_certificate TEXT NOT NULL DEFAULT '';
