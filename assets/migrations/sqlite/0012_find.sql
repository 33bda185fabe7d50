-- Search over many fields: ids, numbers, names, card, money and comment of an alert in lower case, with U+001F twice before and behind
-- each, so that a whole value and the beginning of one are parts of the text as well. Only which alerts have a trigram is kept; what is
-- found is read and compared. Alerts from before are put in with this step.
CREATE VIRTUAL TABLE alert_find USING fts5 (
    text,
    content = '',
    columnsize = 0,
    detail = none,
    tokenize = 'trigram case_sensitive 1'
);
INSERT INTO alert_find (alert_find, rank) VALUES ('hashsize', 8388608);
INSERT INTO alert_find (alert_find, rank) VALUES ('automerge', 8);

-- The trigrams themselves: one or two characters are looked for by those that begin with them.
CREATE VIRTUAL TABLE alert_find_term USING fts5vocab (alert_find, row);

-- What waits for an answer comes first in what is found, the newest first.
CREATE INDEX alert_waiting_by_time ON alert (organization, alert_time, id) WHERE open_deadline IS NOT NULL;
