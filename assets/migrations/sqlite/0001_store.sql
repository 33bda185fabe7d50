-- The whole store. Ids are the 16 bytes of a UUID, times are microseconds since 1970-01-01 UTC, amounts are text as they were received.
-- `key` is a table's own small integer, which other tables and indexes refer to instead of the id.

-- The number of the newest commit that changed something to be seen. Rows carry the number of the commit that changed them last.
CREATE TABLE change_number (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    number INTEGER NOT NULL
) STRICT;
INSERT INTO change_number (only, number) VALUES (1, 0);

-- Facts about the database itself: `key_check` tells whether the data key at hand is the one that sealed what is in here.
CREATE TABLE fact (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE organization (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    name TEXT NOT NULL UNIQUE,
    default_company BLOB NOT NULL CHECK (length(default_company) = 16),
    default_enrollment BLOB NOT NULL CHECK (length(default_enrollment) = 16),
    created_at INTEGER NOT NULL
) STRICT;

-- The companies and enrollments of an organization: its default ones, and what its alerts have named. An id belongs to whom it is listed
-- with; another organization may have the same one.
CREATE TABLE company (
    organization INTEGER NOT NULL REFERENCES organization (key),
    id BLOB NOT NULL CHECK (length(id) = 16),
    PRIMARY KEY (organization, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE enrollment (
    organization INTEGER NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    company BLOB NOT NULL,
    PRIMARY KEY (organization, id),
    FOREIGN KEY (organization, company) REFERENCES company (organization, id)
) STRICT, WITHOUT ROWID;

-- Words and ids that many alerts share (providers, types, statuses, outcomes; companies, enrollments), kept once. Never deleted.
CREATE TABLE word (
    key INTEGER PRIMARY KEY,
    value TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE reference (
    key INTEGER PRIMARY KEY,
    value BLOB NOT NULL UNIQUE CHECK (length(value) = 16)
) STRICT;

-- What lists filter and sort by comes first, so that a scan reads little of each row.
CREATE TABLE alert (
    key INTEGER PRIMARY KEY,
    organization INTEGER NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    alert_time INTEGER,
    provider INTEGER NOT NULL,
    type INTEGER NOT NULL,
    status INTEGER NOT NULL,
    -- The lower-cased word of the outcome; null exactly when there is none.
    outcome INTEGER,
    company INTEGER,
    expired_at INTEGER,
    deadline INTEGER,
    -- The deadline while there is no outcome: hoursLeft sorts by it.
    waiting_deadline INTEGER,
    -- The deadline while there is no outcome and the status is not EXPIRED.
    open_deadline INTEGER,
    transaction_time INTEGER,
    created_at INTEGER,
    updated_at INTEGER,
    -- Null where the amount is not a number of millionths from 0 to the largest integer.
    amount_micros INTEGER,
    currency TEXT NOT NULL,
    provider_id TEXT NOT NULL,
    merchant_descriptor TEXT NOT NULL,
    card_bin TEXT NOT NULL,
    card_last_four TEXT NOT NULL,
    issuer TEXT NOT NULL,
    merchant_name TEXT NOT NULL,
    changed INTEGER NOT NULL,
    amount TEXT,
    enrollment INTEGER,
    card_expiration_date TEXT,
    acquirer_bin TEXT,
    status_code TEXT,
    rule_type TEXT,
    rule_name TEXT,
    installment_number TEXT,
    pricing_tier TEXT,
    descriptor_contact TEXT,
    ethoca_merchant_id TEXT,
    merchant_id TEXT NOT NULL,
    merchant_order_id TEXT,
    partner_id TEXT,
    partner_name TEXT,
    client_name TEXT,
    caid TEXT,
    mcc TEXT,
    transaction_type TEXT NOT NULL,
    initiated_by TEXT NOT NULL,
    liability TEXT,
    auth_code TEXT,
    source TEXT,
    reason_code TEXT,
    acquirer_reference_number TEXT,
    transaction_id TEXT,
    chargeback_amount TEXT,
    chargeback_currency TEXT,
    payment_type TEXT,
    has_external_transaction INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX alert_by_id ON alert (organization, id);
CREATE INDEX alert_by_identity ON alert (organization, provider_id, provider);
-- Most lists walk this one, and filter by words without reading the rows.
CREATE INDEX alert_by_time ON alert (organization, alert_time, id, provider, type, status, outcome, expired_at, company);
CREATE INDEX alert_by_transaction_time ON alert (organization, transaction_time, id);
CREATE INDEX alert_by_updated_at ON alert (organization, updated_at, id);
CREATE INDEX alert_by_amount ON alert (organization, amount_micros, id);
CREATE INDEX alert_by_waiting_deadline ON alert (organization, waiting_deadline, id, provider, type, status, expired_at)
    WHERE waiting_deadline IS NOT NULL;
CREATE INDEX alert_by_open_deadline ON alert (organization, open_deadline, id, provider, type, status, expired_at)
    WHERE open_deadline IS NOT NULL;

-- The recorded answer; one for each alert.
CREATE TABLE outcome (
    alert INTEGER PRIMARY KEY,
    id BLOB NOT NULL CHECK (length(id) = 16),
    provider_alert_id TEXT NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT NOT NULL,
    refunded TEXT NOT NULL,
    comments TEXT NOT NULL,
    dispute_reason_code TEXT,
    action_time INTEGER,
    amount_stopped TEXT
) STRICT;

-- How many alerts there are of each kind, kept in the commit that changes an alert: exact totals without counting.
-- `day` is whole days since 1970-01-01, or the largest integer where the alert has no time; `outcome` is 0 where there is none.
CREATE TABLE alert_count (
    organization INTEGER NOT NULL,
    day INTEGER NOT NULL,
    provider INTEGER NOT NULL,
    type INTEGER NOT NULL,
    status INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    expired INTEGER NOT NULL CHECK (expired IN (0, 1)),
    alerts INTEGER NOT NULL CHECK (alerts >= 0),
    changed INTEGER NOT NULL,
    PRIMARY KEY (organization, day, provider, type, status, outcome, expired)
) STRICT, WITHOUT ROWID;
-- What a cache of the counts has to read again.
CREATE INDEX alert_count_by_change ON alert_count (changed);

-- Provider id, descriptor, BIN and last four of each alert, lower-cased, U+001F between them and U+001D before the descriptor. A search
-- is a substring of it; so is the beginning of a descriptor, with U+001D in front.
CREATE TABLE alert_search (
    alert INTEGER PRIMARY KEY,
    organization INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE alert_trigram USING fts5 (
    text,
    content = 'alert_search',
    content_rowid = 'alert',
    columnsize = 0,
    tokenize = 'trigram case_sensitive 1'
);
-- A batch of an import becomes one segment, and segments are merged less often than by default: imports gain more than searches lose.
INSERT INTO alert_trigram (alert_trigram, rank) VALUES ('hashsize', 8388608);
INSERT INTO alert_trigram (alert_trigram, rank) VALUES ('automerge', 8);

-- A try to record a decision with a provider. At most one of an alert is running.
CREATE TABLE resolution_attempt (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    organization INTEGER NOT NULL REFERENCES organization (key),
    alert INTEGER NOT NULL REFERENCES alert (key),
    dialect TEXT NOT NULL CHECK (dialect IN ('current', 'older')),
    resolution TEXT,
    refunded TEXT NOT NULL,
    amount_stopped TEXT,
    comments TEXT NOT NULL,
    body_hash BLOB NOT NULL CHECK (length(body_hash) = 32),
    idempotency_key TEXT,
    state TEXT NOT NULL CHECK (state IN ('INFLIGHT', 'UNKNOWN', 'COMMITTED', 'RELEASED', 'PARKED')),
    generation INTEGER NOT NULL,
    instance BLOB NOT NULL CHECK (length(instance) = 16),
    started_at INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    next_check INTEGER,
    lease_until INTEGER,
    checks INTEGER NOT NULL DEFAULT 0,
    detail TEXT NOT NULL DEFAULT '',
    ended_at INTEGER,
    -- Who asked, and from where: the audit entry of the outcome names them, whoever finishes the attempt.
    actor TEXT NOT NULL,
    origin TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX resolution_attempt_running ON resolution_attempt (alert) WHERE state IN ('INFLIGHT', 'UNKNOWN', 'PARKED');
CREATE INDEX resolution_attempt_unsettled ON resolution_attempt (state, next_check) WHERE state IN ('INFLIGHT', 'UNKNOWN');
CREATE INDEX resolution_attempt_by_key ON resolution_attempt (organization, idempotency_key, started_at)
    WHERE idempotency_key IS NOT NULL;
-- What may be forgotten.
CREATE INDEX resolution_attempt_by_end ON resolution_attempt (ended_at) WHERE state IN ('COMMITTED', 'RELEASED');
CREATE INDEX resolution_attempt_open ON resolution_attempt (organization, key) WHERE state IN ('INFLIGHT', 'UNKNOWN', 'PARKED');

-- Where webhooks go. `credential` is sealed with the data key.
CREATE TABLE endpoint (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    organization INTEGER NOT NULL REFERENCES organization (key),
    url TEXT NOT NULL,
    auth TEXT NOT NULL CHECK (auth IN ('basic', 'header')),
    header_name TEXT CHECK ((header_name IS NOT NULL) = (auth = 'header')),
    credential BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    disabled_at INTEGER,
    disabled_reason TEXT,
    -- The first failed try since the last success, and the last one; both by a clock that does not jump.
    failing_since INTEGER,
    failed_at INTEGER,
    -- Removed endpoints stay for the deliveries that went there; they are disabled, and their credential is gone.
    removed_at INTEGER
) STRICT;
CREATE INDEX endpoint_by_organization ON endpoint (organization);

-- What deliveries to an endpoint are signed with, sealed with the data key. The newest has no end; those before it sign along until theirs.
CREATE TABLE signing_secret (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    endpoint INTEGER NOT NULL REFERENCES endpoint (key),
    secret BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    ends_at INTEGER
) STRICT;
CREATE INDEX signing_secret_by_endpoint ON signing_secret (endpoint, ends_at);

-- What happened, with the request body that tells of it, rendered once.
CREATE TABLE event (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    -- Null for a test, which tells of a made-up alert.
    alert INTEGER REFERENCES alert (key),
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    changed INTEGER NOT NULL
) STRICT;

-- One event on its way to one endpoint. `alert`, `kind` and `at` are the event's own, kept here for the order of deliveries.
CREATE TABLE delivery (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    event INTEGER NOT NULL REFERENCES event (key),
    endpoint INTEGER NOT NULL REFERENCES endpoint (key),
    alert INTEGER,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- Whether an operator asked for it to try the endpoint out.
    test INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1)),
    state TEXT NOT NULL CHECK (state IN ('pending', 'leased', 'delivered', 'exhausted', 'cancelled')),
    attempts INTEGER NOT NULL DEFAULT 0,
    -- Tries before the delivery was last sent again by hand: its gaps begin anew there.
    earlier_attempts INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL,
    lease_until INTEGER,
    generation INTEGER NOT NULL DEFAULT 0,
    instance BLOB,
    last_result TEXT,
    delivered_at INTEGER,
    -- When it became exhausted or cancelled.
    given_up_at INTEGER
) STRICT;
CREATE INDEX delivery_pending ON delivery (endpoint, due) WHERE state = 'pending';
CREATE INDEX delivery_leased ON delivery (endpoint, lease_until, instance) WHERE state = 'leased';
CREATE INDEX delivery_by_alert ON delivery (alert, endpoint);
-- What may be forgotten, and whether its event may be too.
CREATE INDEX delivery_by_arrival ON delivery (delivered_at) WHERE state = 'delivered';
CREATE INDEX delivery_given_up ON delivery (given_up_at, endpoint) WHERE state IN ('exhausted', 'cancelled');
CREATE INDEX delivery_by_event ON delivery (event);
CREATE INDEX delivery_exhausted ON delivery (endpoint) WHERE state = 'exhausted' AND test = 0;

-- The log of tries. `sent` is the address and the headers as JSON, with the credential masked; null where no request could be made.
CREATE TABLE delivery_attempt (
    delivery INTEGER NOT NULL REFERENCES delivery (key),
    attempt INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    status INTEGER,
    error TEXT,
    answer TEXT NOT NULL,
    sent TEXT,
    PRIMARY KEY (delivery, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_attempt_by_start ON delivery_attempt (started_at);

-- API keys: the public part and the SHA-256 of the whole.
CREATE TABLE api_key (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    organization INTEGER NOT NULL REFERENCES organization (key),
    scope TEXT NOT NULL CHECK (scope IN ('alerts', 'operator')),
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT;
CREATE INDEX api_key_by_organization ON api_key (organization);

-- Client credentials: the client id and the SHA-256 of the secret.
CREATE TABLE client (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    organization INTEGER NOT NULL REFERENCES organization (key),
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT;
CREATE INDEX client_by_organization ON client (organization);

-- Where alerts are pulled from, and how far that has come. Who has the lease pulls; the generation fences who comes late.
CREATE TABLE pull (
    source TEXT PRIMARY KEY,
    cursor TEXT,
    generation INTEGER NOT NULL DEFAULT 0,
    instance BLOB CHECK (length(instance) = 16),
    lease_until INTEGER,
    next_at INTEGER NOT NULL,
    -- When the newest page was stored.
    pulled_at INTEGER,
    -- Failures in a row, and why the last one failed.
    failures INTEGER NOT NULL DEFAULT 0,
    failure TEXT NOT NULL DEFAULT ''
) STRICT;

-- The key that access tokens are signed with; one for the whole database. `private_key` (PKCS #8) is sealed with the data key.
CREATE TABLE signing_key (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    id TEXT NOT NULL,
    private_key BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Who changed what, when and from where. Each entry carries the hash of the one before; entries are never altered, and only those up to
-- `audit_start` can be taken away. AUTOINCREMENT remembers the newest number, so that missing newest entries show.
CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    organization INTEGER NOT NULL REFERENCES organization (key),
    actor TEXT NOT NULL,
    origin TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    previous BLOB NOT NULL CHECK (length(previous) = 32),
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE INDEX audit_by_organization ON audit (organization, number);

-- Number and hash of the newest entry that was taken away by age: the log goes on from there. An entry of the log tells of it too.
CREATE TABLE audit_start (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    number INTEGER NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
INSERT INTO audit_start (only, number, hash) VALUES (1, 0, zeroblob(32));

CREATE TRIGGER audit_is_not_altered BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit WHEN old.number > (SELECT number FROM audit_start) BEGIN
    SELECT RAISE(ABORT, 'entries of the audit log are taken away by age alone');
END;
-- Nothing takes the place of an entry, not even with INSERT OR REPLACE, which fires no trigger for what it replaces.
CREATE TRIGGER audit_goes_on BEFORE INSERT ON audit
    WHEN new.number <= max(coalesce((SELECT max(number) FROM audit), 0), (SELECT number FROM audit_start)) BEGIN
    SELECT RAISE(ABORT, 'the audit log is only added to');
END;
CREATE TRIGGER audit_start_goes_on BEFORE UPDATE ON audit_start
    WHEN new.number < old.number OR NOT EXISTS (SELECT 1 FROM audit WHERE number = new.number AND hash = new.hash) BEGIN
    SELECT RAISE(ABORT, 'the audit log begins later and later');
END;
CREATE TRIGGER audit_start_is_kept BEFORE DELETE ON audit_start BEGIN
    SELECT RAISE(ABORT, 'the audit log has a beginning');
END;
