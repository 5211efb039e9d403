//! No table is read whole for anything that is done often, by the server's own plans; and all of it works there.

use paidonce_store::conformance::skipped;
use paidonce_store::{MysqlOptions, MysqlStore, MysqlTables};
use sqlx::{AssertSqlSafe, Connection, MySqlConnection, Row};

use super::server::{self, Database};
use crate::hot;

/// Rows of every table that a shop fills.
fn fill(database: &Database) {
    let (d, rows) = (&database.name, hot::rows());
    let digit =
        "(SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION
        SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)";
    database.execute(&format!(
        "CREATE TABLE {d}.numbers (n BIGINT PRIMARY KEY);
        INSERT INTO {d}.numbers SELECT n FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d
            + 100000 * g.d + 1 AS n FROM {digit} a, {digit} b, {digit} c, {digit} e, {digit} f, {digit} g) AS all_numbers
            WHERE n <= {rows};
        INSERT INTO {d}.paidonce_event (account, id, source, kind, outcome, payment, content, digest, body, received_at,
            duplicates, last_at) SELECT 'stripe/acme/live', CONCAT('evt_', n), 'shop', 'test', 'applied',
            CONCAT('pi_', n), REPEAT('a', 32), REPEAT('b', 32), REPEAT('x', 300), n, 0, n FROM {d}.numbers;
        INSERT INTO {d}.paidonce_payment SELECT 'stripe/acme/live', CONCAT('pi_', n), CONCAT('o_', n), '[]', n, 0, 0,
            NULL, NULL FROM {d}.numbers;
        INSERT INTO {d}.paidonce_fact SELECT 'stripe/acme/live', CONCAT('pi_', n), 'captured', 'f', 0, 'EUR', 1, 1000, 0
            FROM {d}.numbers;
        INSERT INTO {d}.paidonce_orders SELECT CONCAT('o_', n), CONCAT('customer_', n), '[]', 1000, 'EUR', 'order',
            CONCAT('h_', n), 'open', 0, n, NULL, REPEAT('a', 32), NULL, NULL, NULL, NULL, 1, '[]',
            '[]', NULL FROM {d}.numbers;
        INSERT INTO {d}.paidonce_reference SELECT 'provider', 'stripe/acme/live', CONCAT('pi_', n), CONCAT('o_', n),
            NULL, NULL, '[]' FROM {d}.numbers;
        INSERT INTO {d}.paidonce_task SELECT 'order', '', CONCAT('o_', n), 'grant', 'order', '', '', n, 'done', 0, n, n, 0,
            1, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM {d}.numbers;
        INSERT INTO {d}.paidonce_attempt SELECT 'order', '', CONCAT('o_', n), 'send', 'order', 'mail', 'order_paid', 1,
            'w', n, 1, 'done', '' FROM {d}.numbers;
        INSERT INTO {d}.paidonce_entitlement SELECT CONCAT('o_', n), 'order', CONCAT('customer_', n), '[]', n, 1, NULL,
            NULL, NULL FROM {d}.numbers;
        INSERT INTO {d}.paidonce_command SELECT CONCAT('c_', n), REPEAT('a', 32), 'null', n FROM {d}.numbers;
        INSERT INTO {d}.paidonce_audit SELECT n, CONCAT('c_', n), 'somebody', 'place_order', 'order', CONCAT('o_', n), NULL
            FROM {d}.numbers;
        INSERT INTO {d}.paidonce_cases SELECT 'order', '', CONCAT('o_', n), 'unbound', REPEAT('a', 32), n, n, 'why',
            CONCAT('o_', n), NULL, NULL, NULL, NULL, NULL FROM {d}.numbers"
    ));
    for table in [
        "event",
        "payment",
        "fact",
        "orders",
        "reference",
        "task",
        "entitlement",
        "command",
        "audit",
        "cases",
    ] {
        database.execute(&format!("ANALYZE TABLE {d}.paidonce_{table}"));
    }
}

/// The tables that a statement would read whole, or nearly.
async fn read_whole(connection: &mut MySqlConnection, sql: &str) -> Vec<String> {
    let plan = sqlx::raw_sql(AssertSqlSafe(format!("EXPLAIN {sql}"))).fetch_all(connection).await.unwrap();
    let mut whole = Vec::new();
    for row in &plan {
        let access: Option<String> = row.get("type");
        let rows: Option<u64> = row.try_get_unchecked("rows").unwrap();
        let most = rows.is_some_and(|rows| rows > u64::from(hot::rows() / 2));
        if access.as_deref() == Some("ALL") || (access.as_deref() == Some("index") && most) {
            whole.push(format!("{access:?}, {rows:?} rows: {sql}"));
        }
    }
    whole
}

#[test]
fn no_table_is_read_whole() {
    if skipped("scans", server::missing().as_deref()) {
        return;
    }
    let database = Database::default();
    let store = MysqlStore::open(&database.url(), MysqlOptions::default()).unwrap();
    fill(&database);
    hot::everything(&store);
    let statements = MysqlTables::hot_statements().unwrap();
    assert!(statements.len() > 50);
    server::wait_for(async {
        let mut connection = MySqlConnection::connect(&database.url()).await.unwrap();
        let mut whole = Vec::new();
        for sql in &statements {
            whole.extend(read_whole(&mut connection, sql).await);
        }
        assert_eq!(whole, Vec::<String>::new());
        // Non-vacuity: a scan is seen when there is one.
        let scan = "SELECT count(*) FROM paidonce_event WHERE body = ''";
        assert_eq!(read_whole(&mut connection, scan).await.len(), 1);
    });
}
