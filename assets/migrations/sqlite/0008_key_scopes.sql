-- One key may have both scopes. What a column may hold cannot be changed in place, so the table is made anew with the same rows.
CREATE TABLE api_key_of_scopes (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    organization INTEGER NOT NULL REFERENCES organization (key),
    scope TEXT NOT NULL CHECK (scope IN ('alerts', 'operator', 'alerts,operator')),
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER,
    environment TEXT CHECK (environment IN ('sandbox', 'production'))
) STRICT;
INSERT INTO api_key_of_scopes (key, id, organization, scope, hash, created_at, last_used_at, revoked_at, environment)
SELECT key, id, organization, scope, hash, created_at, last_used_at, revoked_at, environment FROM api_key;
DROP TABLE api_key;
ALTER TABLE api_key_of_scopes RENAME TO api_key;
CREATE INDEX api_key_by_organization ON api_key (organization);
