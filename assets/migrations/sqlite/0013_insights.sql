-- Which answers were given in the last days, and which have no time.
CREATE INDEX outcome_by_action_time ON outcome (action_time);
