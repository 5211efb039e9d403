-- The ledger's tables. Ids are the provider's own, byte for byte (VARBINARY: the server's default collations take
-- `evt_A`, `evt_a` and `evt_A ` for one). Amounts are exact integers of minor units with their unit beside them. There
-- is no transactional DDL: every statement can be run again. What can be of any length is LONGBLOB, so that no
-- session's mode cuts it.

CREATE TABLE IF NOT EXISTS `paidonce_event` (
    `seq` BIGINT NOT NULL AUTO_INCREMENT,
    `account` VARBINARY(600) NOT NULL,               -- provider/account/mode
    `id` VARBINARY(255) NOT NULL,
    `source` VARBINARY(255) NOT NULL,
    `kind` LONGBLOB NOT NULL,
    `outcome` VARBINARY(32) NOT NULL,
    `detail` LONGBLOB,                               -- why it is unreadable, or the reason it is held
    `payment` VARBINARY(255),
    `content` BINARY(32) NOT NULL,                   -- digest of what a redelivery must have in common
    `digest` BINARY(32) NOT NULL,                    -- digest of the body
    `dropped_at` BIGINT,                             -- when the body was dropped
    `body` LONGBLOB NOT NULL,                        -- as it came; empty once it was dropped
    `received_at` BIGINT NOT NULL,                   -- Unix milliseconds, as all times here
    `duplicates` BIGINT NOT NULL,
    `last_at` BIGINT NOT NULL,
    `trace` LONGBLOB,
    PRIMARY KEY (seq),
    UNIQUE KEY by_key (id, account),
    KEY event_by_time (received_at),
    KEY event_by_payment (account, payment)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS `paidonce_payment` (
    `account` VARBINARY(600) NOT NULL,
    `id` VARBINARY(255) NOT NULL,
    `order_id` VARBINARY(255),
    `mentions` LONGBLOB NOT NULL,                    -- JSON: everything its events named
    `first_at` BIGINT NOT NULL,
    `asked` BIGINT NOT NULL,                         -- lookups asked so far
    `listing` BIGINT NOT NULL,                       -- the newest of them that was answered
    `listed_at` BIGINT,
    `provider_revision` BIGINT,
    PRIMARY KEY (`account`, `id`),
    KEY payment_unbound (order_id, first_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS `paidonce_fact` (
    `account` VARBINARY(600) NOT NULL,
    `payment` VARBINARY(255) NOT NULL,
    `kind` VARBINARY(32) NOT NULL,
    `fact_id` VARBINARY(255) NOT NULL,               -- '' where the kind has none
    `stage` BIGINT NOT NULL,                         -- of a dispute, else 0
    `money_unit` VARBINARY(600) NOT NULL,            -- '' where it was not said
    `rank` BIGINT NOT NULL,
    `amount` DECIMAL(39,0),                          -- minor units
    `asked` BIGINT NOT NULL,                         -- lookups asked when it was said
    PRIMARY KEY (`account`, `payment`, `kind`, `fact_id`, `stage`, `money_unit`)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS `paidonce_orders` (
    `id` VARBINARY(255) NOT NULL,
    `customer` VARBINARY(255),
    `lines` LONGBLOB NOT NULL,                       -- JSON
    `total` DECIMAL(39,0) NOT NULL,                  -- minor units
    `money_unit` VARBINARY(600) NOT NULL,
    `fulfil` VARBINARY(32) NOT NULL,
    `hint` VARBINARY(255) NOT NULL,
    `state` VARBINARY(32) NOT NULL,
    `closed_covering` DECIMAL(39,0) NOT NULL,        -- minor units that covered it when it was closed
    `placed_at` BIGINT NOT NULL,
    `expires_at` BIGINT,
    `request` BINARY(32) NOT NULL,
    `token_secret` VARBINARY(255), -- which of the server's secrets the buyer's token was derived with
    `token_mac` BINARY(32),        -- the token itself is kept nowhere
    `pieces` LONGBLOB,             -- JSON: how many of each limited product it took
    `stock` VARBINARY(32),         -- reserved, sold, released
    `revision` BIGINT NOT NULL,
    `payments` LONGBLOB NOT NULL,                    -- JSON
    `refs` LONGBLOB NOT NULL,                        -- JSON
    `trace` LONGBLOB,
    PRIMARY KEY (`id`),
    KEY orders_expiring (state, expires_at),
    KEY orders_by_time (placed_at),
    KEY orders_by_customer (customer, placed_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS `paidonce_product` (
    `sku` VARBINARY(255) NOT NULL,
    `prices` LONGBLOB NOT NULL,    -- JSON
    `stock` BIGINT,                -- pieces ever put up for sale; null if there are as many as are wanted
    `reserved` BIGINT NOT NULL,    -- of them, held for orders that are not paid
    `sold` BIGINT NOT NULL,
    `set_at` BIGINT NOT NULL,
    PRIMARY KEY (`sku`),
    KEY product_by_time (`set_at`)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS `paidonce_reference` (
    `kind` VARBINARY(32) NOT NULL,                   -- provider, issued, own
    `account` VARBINARY(600) NOT NULL,               -- '' for hints
    `id` VARBINARY(255) NOT NULL,
    `order_id` VARBINARY(255),
    `expected` DECIMAL(39,0),                        -- minor units
    `money_unit` VARBINARY(600),
    `payments` LONGBLOB NOT NULL,                    -- JSON: payments waiting here
    PRIMARY KEY (`kind`, `account`, `id`)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS `paidonce_task` (
    `subject_kind` VARBINARY(32) NOT NULL,       -- order, payment, event
    `subject_account` VARBINARY(600) NOT NULL,    -- '' for orders
    `subject_id` VARBINARY(255) NOT NULL,
    `kind` VARBINARY(32) NOT NULL,
    `unit` VARBINARY(32) NOT NULL,               -- '' for lookups
    `effect` VARBINARY(255) NOT NULL,             -- '' for grants and lookups
    `occasion` VARBINARY(300) NOT NULL,           -- '' for what is no send
    `handle` VARBINARY(64) NOT NULL,
    `state` VARBINARY(32) NOT NULL,
    `active` BIGINT NOT NULL,          -- 1 where a worker has it to do
    `created_at` BIGINT NOT NULL,
    `due_at` BIGINT NOT NULL,
    `attempts` BIGINT NOT NULL,
    `order_revision` BIGINT NOT NULL,
    `delivered` BIGINT NOT NULL,
    `version` BIGINT NOT NULL,
    `lease_owner` VARBINARY(255),
    `lease_until` BIGINT,
    `sent_revision` BIGINT,
    `sent_body` LONGBLOB,
    `sent_at` BIGINT,
    `sent_unsure` BIGINT,
    `trace` LONGBLOB,
    PRIMARY KEY (`subject_kind`, `subject_account`, `subject_id`, `kind`, `unit`, `effect`, `occasion`),
    KEY task_due (active, kind, effect, due_at),
    KEY task_parked (state, effect),
    KEY task_by_time (created_at),
    KEY task_by_handle (handle)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS `paidonce_attempt` (
    `subject_kind` VARBINARY(32) NOT NULL,
    `subject_account` VARBINARY(600) NOT NULL,
    `subject_id` VARBINARY(255) NOT NULL,
    `kind` VARBINARY(32) NOT NULL,
    `unit` VARBINARY(32) NOT NULL,
    `effect` VARBINARY(255) NOT NULL,
    `occasion` VARBINARY(300) NOT NULL,
    `version` BIGINT NOT NULL,
    `owner` VARBINARY(255) NOT NULL,
    `at` BIGINT NOT NULL,
    `took_ms` BIGINT NOT NULL,
    `outcome` VARBINARY(32) NOT NULL,
    `detail` LONGBLOB NOT NULL,
    PRIMARY KEY (`subject_kind`, `subject_account`, `subject_id`, `kind`, `unit`, `effect`, `occasion`, `version`)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS `paidonce_entitlement` (
    `order_id` VARBINARY(255) NOT NULL,
    `unit` VARBINARY(32) NOT NULL,
    `customer` VARBINARY(255),
    `lines` LONGBLOB NOT NULL,                       -- JSON
    `granted_at` BIGINT NOT NULL,
    `order_revision` BIGINT NOT NULL,
    `revoked_at` BIGINT,
    `revoked_by` LONGBLOB,                           -- null if the policy did
    `kept_by` LONGBLOB,                              -- who gave it back for good
    PRIMARY KEY (`order_id`, `unit`),
    KEY entitlement_by_time (granted_at),
    KEY entitlement_by_customer (customer, granted_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS `paidonce_cases` (
    `subject_kind` VARBINARY(32) NOT NULL,           -- event, payment, order
    `subject_account` VARBINARY(600) NOT NULL,       -- '' for orders
    `subject_id` VARBINARY(255) NOT NULL,
    `reason` VARBINARY(64) NOT NULL,
    `evidence` BINARY(32) NOT NULL,
    `handle` VARBINARY(64) NOT NULL,
    `opened_at` BIGINT NOT NULL,
    `detail` LONGBLOB NOT NULL,
    `order_id` VARBINARY(255),
    `digest` BINARY(32),
    `body` LONGBLOB,
    `resolved_at` BIGINT,
    `resolved_by` LONGBLOB,
    `resolution` LONGBLOB,
    PRIMARY KEY (`subject_kind`, `subject_account`, `subject_id`, `reason`, `evidence`),
    KEY cases_by_time (opened_at),
    KEY cases_open (resolved_at, opened_at),
    KEY cases_by_handle (handle),
    KEY cases_by_order (order_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS `paidonce_command` (
    `id` VARBINARY(255) NOT NULL,
    `fingerprint` BINARY(32) NOT NULL,
    `reply` LONGBLOB NOT NULL,                       -- JSON
    `at` BIGINT NOT NULL,
    PRIMARY KEY (`id`)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS `paidonce_audit` (
    `at` BIGINT NOT NULL,
    `command` VARBINARY(255) NOT NULL,
    `by` LONGBLOB NOT NULL,
    `action` LONGBLOB NOT NULL,
    `subject` LONGBLOB NOT NULL,
    `order_id` VARBINARY(255),                       -- the order that this concerned
    `reason` LONGBLOB,
    PRIMARY KEY (`at`, `command`),
    KEY audit_by_order (order_id, at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE IF NOT EXISTS `paidonce_api_key` (
    `name` VARBINARY(255) NOT NULL,
    `digest` BINARY(32) NOT NULL,
    `scope` VARBINARY(32) NOT NULL,
    `created_at` BIGINT NOT NULL,
    `revoked_at` BIGINT,
    UNIQUE KEY by_digest (`digest`),
    PRIMARY KEY (`name`)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- For the merchant's own queries.
CREATE OR REPLACE VIEW `paidonce_entitlements` AS
    SELECT CONVERT(order_id USING utf8mb4) AS order_id,
        CONVERT(unit USING utf8mb4) AS unit,
        CONVERT(customer USING utf8mb4) AS customer,
        CONVERT(`lines` USING utf8mb4) AS `lines`,
        FROM_UNIXTIME(granted_at / 1000) AS granted_at,
        FROM_UNIXTIME(revoked_at / 1000) AS revoked_at,
        revoked_at IS NULL AS active
    FROM `paidonce_entitlement`;
