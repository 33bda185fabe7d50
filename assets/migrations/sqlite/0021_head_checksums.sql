-- The index of how fields begin, made anew: behind the first four characters of a field stands a sign for a checksum of its search key
-- (U+100001 and more by its CRC-32, U+100000 where there is no more of it), where a sign for its length stood. Of values that begin alike
-- many are equally long. All alerts are put in with this step.
INSERT INTO alert_head (alert_head) VALUES ('delete-all');
