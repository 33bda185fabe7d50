-- The sales of a month on one scheme's cards, as the operator entered them.
CREATE TABLE sale_count (
    organization bigint NOT NULL REFERENCES organization (key),
    month text COLLATE "C" NOT NULL,
    scheme text COLLATE "C" NOT NULL,
    sales bigint NOT NULL,
    entered_at bigint NOT NULL,
    PRIMARY KEY (organization, month, scheme)
);
