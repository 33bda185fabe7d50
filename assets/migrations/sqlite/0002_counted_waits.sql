-- Waits of an attempt by a clock that only counts and is never set: microseconds since the boot that `epoch` stands for. What another boot
-- has counted cannot be compared; attempts from before this step have no epoch. The dates beside them are for people, and for that case.
ALTER TABLE resolution_attempt ADD COLUMN epoch BLOB CHECK (length(epoch) = 16);
-- From when on no call made for it is running any more.
ALTER TABLE resolution_attempt ADD COLUMN calls_over INTEGER;
ALTER TABLE resolution_attempt ADD COLUMN check_count INTEGER;
ALTER TABLE resolution_attempt ADD COLUMN lease_count INTEGER;
