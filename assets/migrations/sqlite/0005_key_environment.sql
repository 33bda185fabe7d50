-- The environment that a key was made for; null for one that was made before this was kept, until it is used again. A client's stands in its id.
ALTER TABLE api_key ADD COLUMN environment TEXT CHECK (environment IN ('sandbox', 'production'));
