-- The trace context (W3C traceparent) of the request that an event or a decision is of; empty where it had none.
ALTER TABLE event ADD COLUMN trace TEXT NOT NULL DEFAULT '';
ALTER TABLE resolution_attempt ADD COLUMN trace TEXT NOT NULL DEFAULT '';
