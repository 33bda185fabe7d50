-- The sales of a month on one scheme's cards, as the operator entered them.
CREATE TABLE sale_count (
    organization INTEGER NOT NULL REFERENCES organization (key),
    month TEXT NOT NULL,
    scheme TEXT NOT NULL,
    sales INTEGER NOT NULL,
    entered_at INTEGER NOT NULL,
    PRIMARY KEY (organization, month, scheme)
) STRICT, WITHOUT ROWID;
