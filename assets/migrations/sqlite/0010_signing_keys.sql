-- Keys that access tokens were signed with before, until their last tokens have ended: to check these the public half is enough.
CREATE TABLE retired_signing_key (
    id TEXT PRIMARY KEY NOT NULL,
    public_key BLOB NOT NULL,
    ends_at INTEGER NOT NULL
) STRICT;
