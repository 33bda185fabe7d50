-- Rules that the engine answers by, of each organization. The row without a name stands for all of them: their stop by
-- an operator, and the lock that lets one answer of an organization's rules be claimed after the other.
CREATE TABLE rule (
    organization INTEGER NOT NULL REFERENCES organization (key),
    name TEXT NOT NULL,
    -- Of its line, which was first seen then.
    hash TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    stop_reason TEXT,
    stopped_at INTEGER,
    -- When its stop was reported last.
    reported_at INTEGER,
    -- When an operator started it again.
    started_at INTEGER,
    PRIMARY KEY (organization, name)
) STRICT, WITHOUT ROWID;

-- What a rule did with an alert: it answered by an attempt, the last of so many, or was dry and would have answered.
CREATE TABLE rule_answer (
    alert INTEGER NOT NULL REFERENCES alert (key),
    name TEXT NOT NULL,
    did TEXT NOT NULL,
    organization INTEGER NOT NULL,
    at INTEGER NOT NULL,
    -- Of the alert, in millionths.
    amount INTEGER NOT NULL,
    attempt BLOB,
    tries INTEGER NOT NULL,
    PRIMARY KEY (alert, name, did)
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_answer_by_time ON rule_answer (organization, name, did, at);
