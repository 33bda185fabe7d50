-- Every order that a list can be asked for has an index. Each knows what never changes of an alert and is often filtered by: network, type and
-- company; a walk in any order reads no row for these.
DROP INDEX alert_by_identity;
CREATE INDEX alert_by_identity ON alert (organization, provider_id, id, provider, type, company);
DROP INDEX alert_by_transaction_time;
CREATE INDEX alert_by_transaction_time ON alert (organization, transaction_time, id, provider, type, company);
DROP INDEX alert_by_updated_at;
CREATE INDEX alert_by_updated_at ON alert (organization, updated_at, id, provider, type, company);
DROP INDEX alert_by_amount;
CREATE INDEX alert_by_amount ON alert (organization, amount_micros, id, provider, type, company);
CREATE INDEX alert_by_created_at ON alert (organization, created_at, id, provider, type, company);
CREATE INDEX alert_by_expired_at ON alert (organization, expired_at, id, provider, type, company) WHERE expired_at IS NOT NULL;
CREATE INDEX alert_by_currency ON alert (organization, currency, id, provider, type, company);
CREATE INDEX alert_by_issuer ON alert (organization, issuer, id, provider, type, company);
CREATE INDEX alert_by_merchant_descriptor ON alert (organization, merchant_descriptor, id, provider, type, company);
CREATE INDEX alert_by_merchant_name ON alert (organization, merchant_name, id, provider, type, company);
CREATE INDEX alert_by_card_bin ON alert (organization, card_bin, id, provider, type, company);
CREATE INDEX alert_by_card_last_four ON alert (organization, card_last_four, id, provider, type, company);
