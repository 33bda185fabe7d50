-- Answered alerts whose `alert_find` still lacks the text of their outcome: it is put in later, for many at once, which costs each much less.
-- Until then a search reads and compares them.
CREATE TABLE alert_unindexed (
    alert INTEGER PRIMARY KEY
) STRICT;
