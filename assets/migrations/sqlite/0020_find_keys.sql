-- The search over many fields ignores accents and other forms of writing: its indexes, made anew, have of each field the search key (the
-- compatibility decomposition without diacritics, in lower case, with one apostrophe) and not the text in lower case. All alerts are put in
-- with this step.
INSERT INTO alert_find (alert_find) VALUES ('delete-all');
INSERT INTO alert_head (alert_head) VALUES ('delete-all');
