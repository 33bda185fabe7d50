-- Sorting by hours left: what is answered or lapsed shows 0 and stands first, so one index on deadlines is enough.
DROP INDEX alert_by_waiting_deadline;
ALTER TABLE alert DROP COLUMN waiting_deadline;
