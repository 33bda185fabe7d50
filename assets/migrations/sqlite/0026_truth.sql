-- What becomes known after the answer: disputes, fraud reports and refunds, each once by its kind and id.
CREATE TABLE truth (
    key INTEGER PRIMARY KEY,
    organization INTEGER NOT NULL REFERENCES organization (key),
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    reference TEXT,
    network TEXT,
    arn TEXT,
    transaction_id TEXT,
    order_id TEXT,
    card_bin TEXT,
    card_last_four TEXT,
    amount TEXT,
    currency TEXT,
    reason TEXT,
    status TEXT,
    at INTEGER,
    recorded_at INTEGER NOT NULL,
    UNIQUE (organization, kind, id)
) STRICT;
CREATE INDEX truth_by_time ON truth (organization, recorded_at);

-- The facts of a report, in one of which an alert has to agree.
CREATE TABLE truth_fact (
    organization INTEGER NOT NULL,
    fact TEXT NOT NULL,
    truth INTEGER NOT NULL REFERENCES truth (key),
    PRIMARY KEY (organization, fact, truth)
) STRICT, WITHOUT ROWID;
CREATE INDEX truth_fact_by_truth ON truth_fact (truth);

-- Which report is on which alert's payment, and the fact that proves it, in words.
CREATE TABLE truth_match (
    alert INTEGER NOT NULL REFERENCES alert (key),
    truth INTEGER NOT NULL REFERENCES truth (key),
    matched_by TEXT NOT NULL,
    -- When somebody dismissed what it says against the answer.
    dismissed_at INTEGER,
    PRIMARY KEY (alert, truth)
) STRICT, WITHOUT ROWID;
CREATE INDEX truth_match_by_truth ON truth_match (truth);

-- The proof of a refund beside the answer of an alert.
CREATE TABLE refund_proof (
    alert INTEGER PRIMARY KEY REFERENCES alert (key),
    organization INTEGER NOT NULL,
    reference TEXT NOT NULL,
    amount TEXT,
    currency TEXT,
    state TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    dismissed_at INTEGER
) STRICT;
CREATE INDEX refund_proof_by_reference ON refund_proof (organization, reference);
CREATE INDEX refund_proof_by_time ON refund_proof (organization, recorded_at);

-- Looking for the alerts of a report: by the number of the order, and by the transaction's id without a date at either end.
CREATE INDEX alert_by_order ON alert (organization, lower(merchant_order_id)) WHERE merchant_order_id IS NOT NULL;
CREATE INDEX alert_by_transaction ON alert (organization, lower(CASE
    WHEN transaction_id GLOB '20[0-9][0-9][0-9][0-9][0-9][0-9][-_/.:#| ]*' THEN ltrim(substr(transaction_id, 9), '-_/.:#| ')
    WHEN transaction_id GLOB '20[0-9][0-9]-[0-9][0-9]-[0-9][0-9][-_/.:#| ]*' THEN ltrim(substr(transaction_id, 11), '-_/.:#| ')
    WHEN transaction_id GLOB '*[-_/.:#| ]20[0-9][0-9][0-9][0-9][0-9][0-9]'
        THEN rtrim(substr(transaction_id, 1, length(transaction_id) - 8), '-_/.:#| ')
    WHEN transaction_id GLOB '*[-_/.:#| ]20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]'
        THEN rtrim(substr(transaction_id, 1, length(transaction_id) - 10), '-_/.:#| ')
    ELSE transaction_id END)) WHERE transaction_id IS NOT NULL;
