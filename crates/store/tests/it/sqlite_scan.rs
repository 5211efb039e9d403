//! No table is read whole for anything that is done often, by SQLite's own plans over full tables; and all of it works
//! there.

use paidonce_store::{SqliteOptions, SqliteStore, SqliteTables};
use rusqlite::Connection;

use crate::hot;

/// Rows of every table that a shop fills, and what SQLite then knows of them.
fn fill(connection: &Connection) {
    let rows = hot::rows();
    let numbers = format!(
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {rows})"
    );
    let of = [
        "event (account, id, source, kind, outcome, payment, content, digest, body, received_at, duplicates, last_at)
            {numbers} SELECT 'stripe/acme/live', 'evt_' || n, 'shop', 'test', 'applied', 'pi_' || n, zeroblob(32),
            zeroblob(32), zeroblob(300), n, 0, n FROM numbers",
        "payment {numbers} SELECT 'stripe/acme/live', 'pi_' || n, 'o_' || n, '[]', n, 0, 0, NULL, NULL FROM numbers",
        "fact {numbers} SELECT 'stripe/acme/live', 'pi_' || n, 'captured', 'f', 0, 'EUR', 1, '1000', 0 FROM numbers",
        "orders {numbers} SELECT 'o_' || n, 'customer_' || n, '[]', '1000', 'EUR', 'order', 'h_' || n, 'open', '0', n, NULL,
            zeroblob(32), 1, '[]', '[]', NULL FROM numbers",
        "reference {numbers} SELECT 'provider', 'stripe/acme/live', 'pi_' || n, 'o_' || n, NULL, NULL, '[]' FROM numbers",
        "task {numbers} SELECT 'order', '', 'o_' || n, 'grant', 'order', '', '', n, 'done', 0, n, n, 0, 1, 0, 0, NULL, NULL,
            NULL, NULL, NULL, NULL, NULL FROM numbers",
        "entitlement {numbers} SELECT 'o_' || n, 'order', 'customer_' || n, '[]', n, 1, NULL, NULL, NULL FROM numbers",
        "command {numbers} SELECT 'c_' || n, zeroblob(32), 'null', n FROM numbers",
        "audit {numbers} SELECT n, 'c_' || n, 'somebody', 'place_order', 'order', 'o_' || n, NULL FROM numbers",
        "cases {numbers} SELECT 'order', '', 'o_' || n, 'unbound', zeroblob(32), n, n, 'why', 'o_' || n, NULL, NULL, NULL,
            NULL, NULL FROM numbers",
    ];
    let inserts: String =
        of.iter().map(|of| format!("INSERT INTO {};", of.replace("{numbers}", &numbers))).collect();
    connection.execute_batch(&format!("BEGIN; {inserts} COMMIT; ANALYZE")).unwrap();
}

/// What a statement would read whole. (The newest of everything is the one list that walks an index from its end.)
fn read_whole(connection: &Connection, sql: &str) -> Vec<String> {
    let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let values = vec!["1"; explain.parameter_count()];
    let plan = explain.query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
    let scans = plan.map(Result::unwrap).filter(|step| step.starts_with("SCAN"));
    let newest = |step: &String| sql.contains("WHERE 1 = 1 ORDER BY") && step.contains("USING INDEX");
    scans.filter(|step| !newest(step)).map(|step| format!("{step}: {sql}")).collect()
}

#[test]
fn no_table_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("paidonce.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let connection = Connection::open(&path).unwrap();
    let statements = SqliteTables::hot_statements().unwrap();
    assert!(statements.len() > 20);
    let whole = || -> Vec<_> { statements.iter().flat_map(|sql| read_whole(&connection, sql)).collect() };
    assert_eq!(whole(), Vec::<String>::new(), "on tables that nobody has counted");
    fill(&connection);
    hot::everything(&store);
    assert_eq!(whole(), Vec::<String>::new(), "on tables that are full");
    // Non-vacuity: a scan is seen when there is one.
    assert_eq!(read_whole(&connection, "SELECT count(*) FROM event WHERE body = ''").len(), 1);
}
