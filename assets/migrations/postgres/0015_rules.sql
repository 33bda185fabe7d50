-- Rules that the engine answers by, of each organization. The row without a name stands for all of them: their stop by
-- an operator, and the lock that lets one answer of an organization's rules be claimed after the other.
CREATE TABLE rule (
    organization bigint NOT NULL REFERENCES organization (key),
    name text COLLATE "C" NOT NULL,
    -- Of its line, which was first seen then.
    hash text COLLATE "C" NOT NULL,
    seen_at bigint NOT NULL,
    stop_reason text COLLATE "C",
    stopped_at bigint,
    -- When its stop was reported last.
    reported_at bigint,
    -- When an operator started it again.
    started_at bigint,
    PRIMARY KEY (organization, name)
);

-- What a rule did with an alert: it answered by an attempt, the last of so many, or was dry and would have answered.
CREATE TABLE rule_answer (
    alert bigint NOT NULL REFERENCES alert (key),
    name text COLLATE "C" NOT NULL,
    did text COLLATE "C" NOT NULL,
    organization bigint NOT NULL,
    at bigint NOT NULL,
    -- Of the alert, in millionths.
    amount bigint NOT NULL,
    attempt uuid,
    tries bigint NOT NULL,
    PRIMARY KEY (alert, name, did)
);
CREATE INDEX rule_answer_by_time ON rule_answer (organization, name, did, at);
