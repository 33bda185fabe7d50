-- The time of an event by its sender, and the report that it became: what is told late does not undo what was told since.
ALTER TABLE source_event ADD COLUMN sent_at bigint, ADD COLUMN truth bigint REFERENCES truth (key);
CREATE INDEX source_event_by_alert ON source_event (alert) WHERE alert IS NOT NULL;
CREATE INDEX source_event_by_truth ON source_event (truth) WHERE truth IS NOT NULL;

-- What of a source fails: its events, or one of its lists that are polled. The row goes when it works again.
CREATE TABLE source_failing (
    organization bigint NOT NULL REFERENCES organization (key),
    source text COLLATE "C" NOT NULL,
    part text COLLATE "C" NOT NULL,
    since bigint NOT NULL,
    failed_at bigint NOT NULL,
    reported boolean NOT NULL,
    PRIMARY KEY (organization, source, part)
);
