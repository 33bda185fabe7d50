-- The trigrams of what lists search through: two characters are looked for by those that begin with them.
CREATE VIRTUAL TABLE alert_trigram_term USING fts5vocab (alert_trigram, row);
