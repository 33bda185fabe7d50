-- The beginnings of the fields that a search over many fields looks into: of each its first four characters, or the whole of it and U+E080
-- where it is no longer. What is not a letter or a digit stands as U+E000 and more, a blank between two of them. Trigrams alone cannot tell
-- that a short word is the whole of a field, nor that it begins one. Alerts from before are put in with this step.
CREATE VIRTUAL TABLE alert_head USING fts5 (
    text,
    content = '',
    columnsize = 0,
    detail = none,
    prefix = '3',
    tokenize = 'ascii'
);
INSERT INTO alert_head (alert_head, rank) VALUES ('hashsize', 8388608);
INSERT INTO alert_head (alert_head, rank) VALUES ('automerge', 8);
