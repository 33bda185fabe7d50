-- Keys that access tokens were signed with before, until their last tokens have ended: to check these the public half is enough.
CREATE TABLE retired_signing_key (
    id text COLLATE "C" PRIMARY KEY,
    public_key bytea NOT NULL,
    ends_at bigint NOT NULL
);
