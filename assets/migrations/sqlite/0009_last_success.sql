-- When an endpoint took a delivery last: half of what there is to know of its health.
ALTER TABLE endpoint ADD COLUMN succeeded_at INTEGER;
UPDATE endpoint SET succeeded_at = known.at
FROM (SELECT endpoint, max(delivered_at) AS at FROM delivery WHERE state = 'delivered' GROUP BY endpoint) AS known
WHERE known.endpoint = endpoint.key;
