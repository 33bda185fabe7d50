-- How an alert is answered that a source brought, and the source's name: 'here stripe-eu'. Null where no source did.
ALTER TABLE alert ADD COLUMN origin TEXT;

-- What sources sent: the raw body, sealed with the data key, and what became of it. `event` is the sender's own id of it.
CREATE TABLE source_event (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    organization INTEGER NOT NULL REFERENCES organization (key),
    source TEXT NOT NULL,
    event TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    body BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('mapped', 'ignored', 'unmapped')),
    reasons TEXT NOT NULL,
    alert INTEGER REFERENCES alert (key)
) STRICT;
CREATE UNIQUE INDEX source_event_by_event ON source_event (organization, source, event);
CREATE INDEX source_event_by_key ON source_event (organization, source, key);
-- What may be forgotten.
CREATE INDEX source_event_by_time ON source_event (received_at);

-- How much came from each source. `rejected` counts requests of which nothing else is kept.
CREATE TABLE source_count (
    organization INTEGER NOT NULL REFERENCES organization (key),
    source TEXT NOT NULL,
    received INTEGER NOT NULL,
    mapped INTEGER NOT NULL,
    ignored INTEGER NOT NULL,
    unmapped INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    last_received INTEGER,
    PRIMARY KEY (organization, source)
) STRICT, WITHOUT ROWID;
