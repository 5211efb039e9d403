-- The ledger's tables. Ids are the provider's own, byte for byte (collation C), so that time-ordered ids keep the
-- indexes local. Amounts are exact integers of minor units with their unit beside them. JSON is text: jsonb refuses
-- texts that providers send. `{schema}` is the schema's name, quoted.

CREATE TABLE {schema}.event (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,               -- provider/account/mode
    id TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    detail TEXT COLLATE "C",                         -- why it is unreadable, or the reason it is held
    payment TEXT COLLATE "C",
    content BYTEA NOT NULL,                          -- digest of what a redelivery must have in common
    digest BYTEA NOT NULL,                           -- digest of the body
    dropped_at BIGINT,                               -- when the body was dropped
    body BYTEA NOT NULL,                             -- as it came; empty once it was dropped
    received_at BIGINT NOT NULL,                     -- Unix milliseconds, as all times here
    duplicates BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    trace TEXT COLLATE "C",
    UNIQUE (id, account)
);
CREATE INDEX event_by_time ON {schema}.event (received_at);
CREATE INDEX event_by_payment ON {schema}.event (account, payment) WHERE payment IS NOT NULL;

CREATE TABLE {schema}.payment (
    account TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    order_id TEXT COLLATE "C",
    mentions TEXT COLLATE "C" NOT NULL,              -- JSON: everything its events named
    first_at BIGINT NOT NULL,
    asked BIGINT NOT NULL,                           -- lookups asked so far
    listing BIGINT NOT NULL,                         -- the newest of them that was answered
    listed_at BIGINT,
    provider_revision BIGINT,
    PRIMARY KEY (account, id)
);
CREATE INDEX payment_unbound ON {schema}.payment (first_at) WHERE order_id IS NULL;

CREATE TABLE {schema}.fact (
    account TEXT COLLATE "C" NOT NULL,
    payment TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    fact_id TEXT COLLATE "C" NOT NULL,               -- '' where the kind has none
    stage BIGINT NOT NULL,                           -- of a dispute, else 0
    money_unit TEXT COLLATE "C" NOT NULL,            -- '' where it was not said
    rank BIGINT NOT NULL,
    amount NUMERIC(39,0),                            -- minor units
    asked BIGINT NOT NULL,                           -- lookups asked when it was said
    PRIMARY KEY (account, payment, kind, fact_id, stage, money_unit)
);

CREATE TABLE {schema}.orders (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    customer TEXT COLLATE "C",
    lines TEXT COLLATE "C" NOT NULL,                 -- JSON
    total NUMERIC(39,0) NOT NULL,                    -- minor units
    money_unit TEXT COLLATE "C" NOT NULL,
    fulfil TEXT COLLATE "C" NOT NULL,
    hint TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    closed_covering NUMERIC(39,0) NOT NULL,          -- minor units that covered it when it was closed
    placed_at BIGINT NOT NULL,
    expires_at BIGINT,
    request BYTEA NOT NULL,
    token_secret TEXT COLLATE "C",                   -- which of the server's secrets the buyer's token was derived with
    token_mac BYTEA,                                 -- the token itself is kept nowhere
    pieces TEXT COLLATE "C",                         -- JSON: how many of each limited product it took
    stock TEXT COLLATE "C",                          -- reserved, sold, released
    revision BIGINT NOT NULL,
    payments TEXT COLLATE "C" NOT NULL,              -- JSON
    refs TEXT COLLATE "C" NOT NULL,                  -- JSON
    trace TEXT COLLATE "C"
) WITH (fillfactor = 70);                            -- room for the next revision beside it: no index is written
CREATE INDEX orders_expiring ON {schema}.orders (expires_at) WHERE state = 'open' AND expires_at IS NOT NULL;
CREATE INDEX orders_by_time ON {schema}.orders (placed_at);
CREATE INDEX orders_by_customer ON {schema}.orders (customer, placed_at) WHERE customer IS NOT NULL;

CREATE TABLE {schema}.product (
    sku TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    prices TEXT COLLATE "C" NOT NULL,                -- JSON
    stock BIGINT,                                    -- pieces ever put up for sale; null: as many as are wanted
    reserved BIGINT NOT NULL,                        -- of them, held for orders that are not paid
    sold BIGINT NOT NULL,
    set_at BIGINT NOT NULL
);
CREATE INDEX product_by_time ON {schema}.product (set_at);

CREATE TABLE {schema}.reference (
    kind TEXT COLLATE "C" NOT NULL,                  -- provider, issued, own
    account TEXT COLLATE "C" NOT NULL,               -- '' for hints
    id TEXT COLLATE "C" NOT NULL,
    order_id TEXT COLLATE "C",
    expected NUMERIC(39,0),                          -- minor units
    money_unit TEXT COLLATE "C",
    payments TEXT COLLATE "C" NOT NULL,              -- JSON: payments waiting here
    PRIMARY KEY (kind, account, id)
);

CREATE TABLE {schema}.task (
    subject_kind TEXT COLLATE "C" NOT NULL,       -- order, payment, event
    subject_account TEXT COLLATE "C" NOT NULL,    -- '' for orders
    subject_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    unit TEXT COLLATE "C" NOT NULL,               -- '' for lookups
    effect TEXT COLLATE "C" NOT NULL,             -- '' for grants and lookups
    occasion TEXT COLLATE "C" NOT NULL,           -- '' for what is no send
    handle TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    active BIGINT NOT NULL,          -- 1 where a worker has it to do
    created_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    order_revision BIGINT NOT NULL,
    delivered BIGINT NOT NULL,
    version BIGINT NOT NULL,
    lease_owner TEXT COLLATE "C",
    lease_until BIGINT,
    sent_revision BIGINT,
    sent_body BYTEA,
    sent_at BIGINT,
    sent_unsure BIGINT,
    trace TEXT COLLATE "C",
    PRIMARY KEY (subject_kind, subject_account, subject_id, kind, unit, effect, occasion)
);
CREATE INDEX task_due ON {schema}.task (kind, effect, due_at) WHERE active = 1;
CREATE INDEX task_parked ON {schema}.task (effect) WHERE state = 'parked';
CREATE INDEX task_by_time ON {schema}.task (created_at);
CREATE INDEX task_by_handle ON {schema}.task (handle);

CREATE TABLE {schema}.attempt (
    subject_kind TEXT COLLATE "C" NOT NULL,
    subject_account TEXT COLLATE "C" NOT NULL,
    subject_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    unit TEXT COLLATE "C" NOT NULL,
    effect TEXT COLLATE "C" NOT NULL,
    occasion TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    took_ms BIGINT NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    detail TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (subject_kind, subject_account, subject_id, kind, unit, effect, occasion, version)
);

CREATE TABLE {schema}.entitlement (
    order_id TEXT COLLATE "C" NOT NULL,
    unit TEXT COLLATE "C" NOT NULL,
    customer TEXT COLLATE "C",
    lines TEXT COLLATE "C" NOT NULL,                 -- JSON
    granted_at BIGINT NOT NULL,
    order_revision BIGINT NOT NULL,
    revoked_at BIGINT,
    revoked_by TEXT COLLATE "C",                     -- null if the policy did
    kept_by TEXT COLLATE "C",                        -- who gave it back for good
    PRIMARY KEY (order_id, unit)
);
CREATE INDEX entitlement_by_time ON {schema}.entitlement (granted_at);
CREATE INDEX entitlement_by_customer ON {schema}.entitlement (customer, granted_at) WHERE customer IS NOT NULL;

CREATE TABLE {schema}.cases (
    subject_kind TEXT COLLATE "C" NOT NULL,          -- event, payment, order
    subject_account TEXT COLLATE "C" NOT NULL,       -- '' for orders
    subject_id TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    evidence BYTEA NOT NULL,
    handle TEXT COLLATE "C" NOT NULL,
    opened_at BIGINT NOT NULL,
    detail TEXT COLLATE "C" NOT NULL,
    order_id TEXT COLLATE "C",
    digest BYTEA,
    body BYTEA,
    resolved_at BIGINT,
    resolved_by TEXT COLLATE "C",
    resolution TEXT COLLATE "C",
    PRIMARY KEY (subject_kind, subject_account, subject_id, reason, evidence)
);
CREATE INDEX cases_by_time ON {schema}.cases (opened_at);
CREATE INDEX cases_open ON {schema}.cases (opened_at) WHERE resolved_at IS NULL;
CREATE INDEX cases_by_handle ON {schema}.cases (handle);
CREATE INDEX cases_by_order ON {schema}.cases (order_id) WHERE order_id IS NOT NULL;

CREATE TABLE {schema}.command (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    fingerprint BYTEA NOT NULL,
    reply TEXT COLLATE "C" NOT NULL,                 -- JSON
    at BIGINT NOT NULL
);

CREATE TABLE {schema}.audit (
    at BIGINT NOT NULL,
    command TEXT COLLATE "C" NOT NULL,
    by TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    order_id TEXT COLLATE "C",                       -- the order that this concerned
    reason TEXT COLLATE "C",
    PRIMARY KEY (at, command)
);
CREATE INDEX audit_by_order ON {schema}.audit (order_id, at) WHERE order_id IS NOT NULL;

CREATE TABLE {schema}.api_key (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    digest BYTEA NOT NULL UNIQUE,
    scope TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

-- For the merchant's own queries. (Their columns have the database's collation, and two collations cannot be compared.
-- Ours are C, because an index in a collation of the system's changes its order when the system is upgraded.)
CREATE VIEW {schema}.entitlements AS
    SELECT order_id COLLATE "default" AS order_id,
        unit COLLATE "default" AS unit,
        customer COLLATE "default" AS customer,
        lines::json AS lines,
        to_timestamp(granted_at / 1000.0) AS granted_at,
        to_timestamp(revoked_at / 1000.0) AS revoked_at,
        revoked_at IS NULL AS active
    FROM {schema}.entitlement;
