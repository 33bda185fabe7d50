-- Search over many fields: ids, numbers, names, card, money and comment of an alert in lower case, with U+001F twice before and behind
-- each, so that a whole value and the beginning of one are parts of the text as well. Alerts from before get theirs with this step.
ALTER TABLE alert ADD COLUMN find_text text COLLATE "C" NOT NULL DEFAULT '';
