-- The orders that a list can be asked for and that had no index yet.
CREATE INDEX alert_by_created_at ON alert (organization, created_at, id);
CREATE INDEX alert_by_expired_at ON alert (organization, expired_at, id) WHERE expired_at IS NOT NULL;
CREATE INDEX alert_by_currency ON alert (organization, currency, id);
CREATE INDEX alert_by_issuer ON alert (organization, issuer, id);
CREATE INDEX alert_by_merchant_descriptor ON alert (organization, merchant_descriptor, id);
CREATE INDEX alert_by_merchant_name ON alert (organization, merchant_name, id);
CREATE INDEX alert_by_card_bin ON alert (organization, card_bin, id);
CREATE INDEX alert_by_card_last_four ON alert (organization, card_last_four, id);
