-- The trace context (W3C traceparent) of the request that an event or a decision is of; empty where it had none.
ALTER TABLE event ADD COLUMN trace text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE resolution_attempt ADD COLUMN trace text COLLATE "C" NOT NULL DEFAULT '';
