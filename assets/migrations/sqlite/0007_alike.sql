-- Looking for other alerts on one payment: by card digits and amount, by the acquirer's reference, by the authorization code.
CREATE INDEX alert_by_card ON alert (organization, card_last_four, amount_micros) WHERE card_last_four <> '';
CREATE INDEX alert_by_arn ON alert (organization, acquirer_reference_number) WHERE acquirer_reference_number IS NOT NULL;
CREATE INDEX alert_by_auth_code ON alert (organization, auth_code) WHERE auth_code IS NOT NULL;
