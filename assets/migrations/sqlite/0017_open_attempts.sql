-- One index of the attempts that have not ended instead of three: each claim and each end of one wrote them all. An alert belongs to one
-- organization, so that at most one attempt of it is open as before.
DROP INDEX IF EXISTS resolution_attempt_running;
DROP INDEX IF EXISTS resolution_attempt_unsettled;
DROP INDEX IF EXISTS resolution_attempt_open;
CREATE UNIQUE INDEX resolution_attempt_open ON resolution_attempt (organization, alert) WHERE state IN ('INFLIGHT', 'UNKNOWN', 'PARKED');
