-- What the address of an endpoint carries in its query is a secret. `url` is the address as it is shown, and `sealed_url` the whole one, sealed
-- with the data key; null where there is nothing to hide. Addresses from before are sealed when the database is opened.
ALTER TABLE endpoint ADD COLUMN sealed_url BLOB;

-- What was sent tells the address as it is shown.
UPDATE delivery_attempt
SET sent = json_set(sent, '$.url', substr(json_extract(sent, '$.url'), 1, instr(json_extract(sent, '$.url'), '?')) || '****')
WHERE sent IS NOT NULL AND instr(json_extract(sent, '$.url'), '?') > 0;
