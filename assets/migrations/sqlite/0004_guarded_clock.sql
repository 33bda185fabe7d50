-- What was observed of the clocks of a machine, for the next process to go on from: the last moment at which the date was believed, by the
-- date and by microseconds since the boot that `epoch` stands for; and the jump that is not believed yet, where there is one.
CREATE TABLE clock (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    epoch BLOB NOT NULL CHECK (length(epoch) = 16),
    date INTEGER NOT NULL,
    count INTEGER NOT NULL,
    jump_ahead INTEGER,
    jump_since INTEGER,
    jump_observed INTEGER,
    jump_observations INTEGER
) STRICT;

-- Since when a delivery waits for its next try, and a source for its next turn: where that is to come, the clock has been set back.
ALTER TABLE delivery ADD COLUMN since INTEGER;
UPDATE delivery SET since = at WHERE state IN ('pending', 'leased');
CREATE INDEX delivery_since ON delivery (since) WHERE state = 'pending';
ALTER TABLE pull ADD COLUMN since INTEGER;
