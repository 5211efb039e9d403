//! The statements of an admission by hand, for each database: what a careful developer writes who keeps paidonce's own
//! rows. Only texts: the naive sides run them, and a test of the product prepares them on its newest tables.

/// One transaction's statements, and in which order each takes its values.
#[derive(Debug, Clone, Copy)]
pub struct Statements {
    /// Was this event seen before? Absent where the insert itself tells. (account, id)
    pub event: Option<&'static str>,
    /// The order that a payment is for: id, total, unit, state, revision. Locked where there are row locks.
    /// (account, intent)
    pub order: &'static str,
    /// A duplicate. (last at, account, id)
    pub repeated: &'static str,
    /// (account, id, source, kind, payment, content, digest, body, received at, last at)
    pub insert_event: &'static str,
    /// (account, id, order, mentions, first at)
    pub insert_payment: &'static str,
    /// (account, payment, fact, unit, amount)
    pub insert_fact: &'static str,
    /// (payments, revision, id)
    pub update_order: &'static str,
    /// (order, handle, created at, due at, revision)
    pub insert_task: &'static str,
}

impl Statements {
    /// Each of them.
    pub fn each(&self) -> impl Iterator<Item = &'static str> {
        let others = [
            self.order,
            self.repeated,
            self.insert_event,
            self.insert_payment,
            self.insert_fact,
            self.update_order,
            self.insert_task,
        ];
        self.event.into_iter().chain(others)
    }
}

/// SQLite: one writer at a time, so that what was read stays true.
pub const SQLITE: Statements = Statements {
    event: Some("SELECT digest FROM event WHERE account = ?1 AND id = ?2"),
    order: "SELECT o.id, o.total, o.money_unit, o.state, o.revision FROM reference r JOIN orders o ON o.id = r.order_id
        WHERE r.kind = 'provider' AND r.account = ?1 AND r.id = ?2",
    repeated: "UPDATE event SET duplicates = duplicates + 1, last_at = ?1 WHERE account = ?2 AND id = ?3",
    insert_event: "INSERT INTO event
        (account, id, source, kind, outcome, payment, content, digest, body, received_at, duplicates, last_at)
        VALUES (?1, ?2, ?3, ?4, 'applied', ?5, ?6, ?7, ?8, ?9, 0, ?10)",
    insert_payment: "INSERT INTO payment (account, id, order_id, mentions, first_at, asked, listing)
        VALUES (?1, ?2, ?3, ?4, ?5, 0, 0)",
    insert_fact: "INSERT INTO fact (account, payment, kind, fact_id, stage, money_unit, rank, amount, asked)
        VALUES (?1, ?2, 'captured', ?3, 0, ?4, 1, ?5, 0)",
    update_order: "UPDATE orders SET payments = ?1, revision = ?2 WHERE id = ?3",
    insert_task: "INSERT INTO task (subject_kind, subject_account, subject_id, kind, unit, effect, occasion, handle,
        state, active, created_at, due_at, attempts, order_revision, delivered, version)
        VALUES ('order', '', ?1, 'grant', 'order', '', '', ?2, 'pending', 1, ?3, ?4, 0, ?5, 0, 0)",
};

/// Postgres. The insert waits for whoever inserts the same event, and says by its count who was first: one round trip
/// less than a look beforehand.
pub const POSTGRES: Statements = Statements {
    event: None,
    order: "SELECT o.id, o.total::text, o.money_unit, o.state, o.revision
        FROM paidonce.reference r JOIN paidonce.orders o ON o.id = r.order_id
        WHERE r.kind = 'provider' AND r.account = $1 AND r.id = $2 FOR UPDATE OF o",
    repeated: "UPDATE paidonce.event SET duplicates = duplicates + 1, last_at = $1 WHERE account = $2 AND id = $3",
    insert_event: "INSERT INTO paidonce.event
        (account, id, source, kind, outcome, payment, content, digest, body, received_at, duplicates, last_at)
        VALUES ($1, $2, $3, $4, 'applied', $5, $6, $7, $8, $9, 0, $10) ON CONFLICT DO NOTHING",
    insert_payment: "INSERT INTO paidonce.payment (account, id, order_id, mentions, first_at, asked, listing)
        VALUES ($1, $2, $3, $4, $5, 0, 0)",
    insert_fact:
        "INSERT INTO paidonce.fact (account, payment, kind, fact_id, stage, money_unit, rank, amount, asked)
        VALUES ($1, $2, 'captured', $3, 0, $4, 1, $5::bigint, 0)",
    update_order: "UPDATE paidonce.orders SET payments = $1, revision = $2 WHERE id = $3",
    insert_task:
        "INSERT INTO paidonce.task (subject_kind, subject_account, subject_id, kind, unit, effect, occasion,
        handle, state, active, created_at, due_at, attempts, order_revision, delivered, version)
        VALUES ('order', '', $1, 'grant', 'order', '', '', $2, 'pending', 1, $3, $4, 0, $5, 0, 0)",
};

/// MariaDB and MySQL. A duplicate is error 1062 of the event's insert.
pub const MYSQL: Statements = Statements {
    event: None,
    order: "SELECT o.id, CAST(o.total AS CHAR), o.money_unit, o.state, o.revision
        FROM paidonce_reference r JOIN paidonce_orders o ON o.id = r.order_id
        WHERE r.kind = 'provider' AND r.account = ? AND r.id = ? FOR UPDATE",
    repeated: "UPDATE paidonce_event SET duplicates = duplicates + 1, last_at = ? WHERE account = ? AND id = ?",
    insert_event: "INSERT INTO paidonce_event
        (account, id, source, kind, outcome, payment, content, digest, body, received_at, duplicates, last_at)
        VALUES (?, ?, ?, ?, 'applied', ?, ?, ?, ?, ?, 0, ?)",
    insert_payment: "INSERT INTO paidonce_payment (account, id, order_id, mentions, first_at, asked, listing)
        VALUES (?, ?, ?, ?, ?, 0, 0)",
    insert_fact:
        "INSERT INTO paidonce_fact (account, payment, kind, fact_id, stage, money_unit, `rank`, amount, asked)
        VALUES (?, ?, 'captured', ?, 0, ?, 1, ?, 0)",
    update_order: "UPDATE paidonce_orders SET payments = ?, revision = ? WHERE id = ?",
    insert_task:
        "INSERT INTO paidonce_task (subject_kind, subject_account, subject_id, kind, unit, effect, occasion,
        handle, state, active, created_at, due_at, attempts, order_revision, delivered, version)
        VALUES ('order', '', ?, 'grant', 'order', '', '', ?, 'pending', 1, ?, ?, 0, ?, 0, 0)",
};
