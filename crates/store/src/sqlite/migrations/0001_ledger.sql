-- The ledger's tables. Ids are the provider's own, byte for byte (BINARY collation), so that time-ordered ids keep
-- the indexes local. Amounts are decimal text with their unit beside them: wei overflow 64 bits.

CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    account TEXT NOT NULL,            -- provider/account/mode
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT,                      -- why it is unreadable, or the reason it is held
    payment TEXT,
    content BLOB NOT NULL,            -- digest of what a redelivery must have in common
    digest BLOB NOT NULL,             -- digest of the body
    dropped_at INTEGER,               -- when the body was dropped; before it, so that a walk reads no body
    body BLOB NOT NULL,               -- as it came; empty once it was dropped
    received_at INTEGER NOT NULL,     -- Unix milliseconds, as all times here
    duplicates INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    trace TEXT,
    UNIQUE (id, account)              -- an id alone is looked for too
);
CREATE INDEX event_by_time ON event (received_at);
CREATE INDEX event_by_payment ON event (account, payment) WHERE payment IS NOT NULL;

CREATE TABLE payment (
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    order_id TEXT,
    mentions TEXT NOT NULL,           -- JSON: everything its events named
    first_at INTEGER NOT NULL,
    asked INTEGER NOT NULL,           -- lookups asked so far
    listing INTEGER NOT NULL,         -- the newest of them that was answered
    listed_at INTEGER,
    provider_revision INTEGER,
    PRIMARY KEY (account, id)
) WITHOUT ROWID;
CREATE INDEX payment_unbound ON payment (first_at) WHERE order_id IS NULL;

CREATE TABLE fact (
    account TEXT NOT NULL,
    payment TEXT NOT NULL,
    kind TEXT NOT NULL,
    fact_id TEXT NOT NULL,            -- '' where the kind has none
    stage INTEGER NOT NULL,           -- of a dispute, else 0
    money_unit TEXT NOT NULL,         -- '' where it was not said
    rank INTEGER NOT NULL,
    amount TEXT,                      -- minor units
    asked INTEGER NOT NULL,           -- lookups asked when it was said
    PRIMARY KEY (account, payment, kind, fact_id, stage, money_unit)
) WITHOUT ROWID;

CREATE TABLE orders (
    id TEXT NOT NULL PRIMARY KEY,
    customer TEXT,
    lines TEXT NOT NULL,              -- JSON
    total TEXT NOT NULL,              -- minor units
    money_unit TEXT NOT NULL,
    fulfil TEXT NOT NULL,
    hint TEXT NOT NULL,
    state TEXT NOT NULL,
    closed_covering TEXT NOT NULL,    -- minor units that covered it when it was closed
    placed_at INTEGER NOT NULL,
    expires_at INTEGER,
    request BLOB NOT NULL,
    token_secret TEXT,                -- which of the server's secrets the buyer's token was derived with
    token_mac BLOB,                   -- the token itself is kept nowhere
    pieces TEXT,                      -- JSON: how many of each limited product it took
    stock TEXT,                       -- reserved, sold, released
    revision INTEGER NOT NULL,
    payments TEXT NOT NULL,           -- JSON
    refs TEXT NOT NULL,               -- JSON
    trace TEXT
) WITHOUT ROWID;
CREATE INDEX orders_expiring ON orders (expires_at) WHERE state = 'open' AND expires_at IS NOT NULL;
CREATE INDEX orders_by_time ON orders (placed_at);
CREATE INDEX orders_by_customer ON orders (customer, placed_at) WHERE customer IS NOT NULL;

CREATE TABLE product (
    sku TEXT NOT NULL PRIMARY KEY,
    prices TEXT NOT NULL,             -- JSON
    stock INTEGER,                    -- pieces ever put up for sale; null if there are as many as are wanted
    reserved INTEGER NOT NULL,        -- of them, held for orders that are not paid
    sold INTEGER NOT NULL,
    set_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX product_by_time ON product (set_at);

CREATE TABLE reference (
    kind TEXT NOT NULL,               -- provider, issued, own
    account TEXT NOT NULL,            -- '' for hints
    id TEXT NOT NULL,
    order_id TEXT,
    expected TEXT,                    -- minor units
    money_unit TEXT,
    payments TEXT NOT NULL,           -- JSON: payments waiting here
    PRIMARY KEY (kind, account, id)
) WITHOUT ROWID;

CREATE TABLE task (
    subject_kind TEXT NOT NULL,       -- order, payment, event
    subject_account TEXT NOT NULL,    -- '' for orders
    subject_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    unit TEXT NOT NULL,               -- '' for lookups
    effect TEXT NOT NULL,             -- '' for grants and lookups
    occasion TEXT NOT NULL,           -- '' for what is no send
    handle TEXT NOT NULL,
    state TEXT NOT NULL,
    active INTEGER NOT NULL,          -- 1 where a worker has it to do
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    order_revision INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    version INTEGER NOT NULL,
    lease_owner TEXT,
    lease_until INTEGER,
    sent_revision INTEGER,
    sent_body BLOB,
    sent_at INTEGER,
    sent_unsure INTEGER,
    trace TEXT,
    PRIMARY KEY (subject_kind, subject_account, subject_id, kind, unit, effect, occasion)
) WITHOUT ROWID;
CREATE INDEX task_due ON task (kind, effect, due_at) WHERE active = 1;
CREATE INDEX task_parked ON task (effect) WHERE state = 'parked';
CREATE INDEX task_by_time ON task (created_at);
CREATE INDEX task_by_handle ON task (handle);

CREATE TABLE attempt (
    subject_kind TEXT NOT NULL,
    subject_account TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    unit TEXT NOT NULL,
    effect TEXT NOT NULL,
    occasion TEXT NOT NULL,
    version INTEGER NOT NULL,
    owner TEXT NOT NULL,
    at INTEGER NOT NULL,
    took_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (subject_kind, subject_account, subject_id, kind, unit, effect, occasion, version)
) WITHOUT ROWID;

CREATE TABLE entitlement (
    order_id TEXT NOT NULL,
    unit TEXT NOT NULL,
    customer TEXT,
    lines TEXT NOT NULL,              -- JSON
    granted_at INTEGER NOT NULL,
    order_revision INTEGER NOT NULL,
    revoked_at INTEGER,
    revoked_by TEXT,                  -- null if the policy did
    kept_by TEXT,                     -- who gave it back for good
    PRIMARY KEY (order_id, unit)
) WITHOUT ROWID;
CREATE INDEX entitlement_by_time ON entitlement (granted_at);
CREATE INDEX entitlement_by_customer ON entitlement (customer, granted_at) WHERE customer IS NOT NULL;

CREATE TABLE cases (
    subject_kind TEXT NOT NULL,       -- event, payment, order
    subject_account TEXT NOT NULL,    -- '' for orders
    subject_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    evidence BLOB NOT NULL,
    handle TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    detail TEXT NOT NULL,
    order_id TEXT,
    digest BLOB,
    body BLOB,
    resolved_at INTEGER,
    resolved_by TEXT,
    resolution TEXT,
    PRIMARY KEY (subject_kind, subject_account, subject_id, reason, evidence)
) WITHOUT ROWID;
CREATE INDEX cases_by_time ON cases (opened_at);
CREATE INDEX cases_open ON cases (opened_at) WHERE resolved_at IS NULL;
CREATE INDEX cases_by_handle ON cases (handle);
CREATE INDEX cases_by_order ON cases (order_id) WHERE order_id IS NOT NULL;

CREATE TABLE command (
    id TEXT NOT NULL PRIMARY KEY,
    fingerprint BLOB NOT NULL,
    reply TEXT NOT NULL,              -- JSON
    at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE audit (
    at INTEGER NOT NULL,
    command TEXT NOT NULL,
    by TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    order_id TEXT,                    -- the order that this concerned
    reason TEXT,
    PRIMARY KEY (at, command)
) WITHOUT ROWID;
CREATE INDEX audit_by_order ON audit (order_id, at) WHERE order_id IS NOT NULL;

CREATE TABLE api_key (
    name TEXT NOT NULL PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) WITHOUT ROWID;
