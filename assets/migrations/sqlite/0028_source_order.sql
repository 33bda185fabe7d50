-- The time of an event by its sender, and the report that it became: what is told late does not undo what was told since.
ALTER TABLE source_event ADD COLUMN sent_at INTEGER;
ALTER TABLE source_event ADD COLUMN truth INTEGER REFERENCES truth (key);
CREATE INDEX source_event_by_alert ON source_event (alert) WHERE alert IS NOT NULL;
CREATE INDEX source_event_by_truth ON source_event (truth) WHERE truth IS NOT NULL;

-- What of a source fails: its events, or one of its lists that are polled. The row goes when it works again.
CREATE TABLE source_failing (
    organization INTEGER NOT NULL REFERENCES organization (key),
    source TEXT NOT NULL,
    part TEXT NOT NULL,
    since INTEGER NOT NULL,
    failed_at INTEGER NOT NULL,
    reported INTEGER NOT NULL,
    PRIMARY KEY (organization, source, part)
) STRICT, WITHOUT ROWID;
