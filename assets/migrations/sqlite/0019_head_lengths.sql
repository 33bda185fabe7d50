-- The beginnings of the fields that a search over many fields looks into, made anew: of each its first four characters and a sign for how
-- much longer it is (U+E100 where it is not). The first character of an outcome's field stands as U+F0000 and more, so that what only
-- answers have is not looked for in what waits. Alerts from before are put in with this step.
DROP TABLE alert_head;
CREATE VIRTUAL TABLE alert_head USING fts5 (
    text,
    content = '',
    columnsize = 0,
    detail = none,
    prefix = '3 4',
    tokenize = 'ascii'
);
INSERT INTO alert_head (alert_head, rank) VALUES ('hashsize', 8388608);
INSERT INTO alert_head (alert_head, rank) VALUES ('automerge', 8);
