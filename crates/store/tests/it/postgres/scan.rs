//! No table is read whole for anything that is done often: Postgres itself counts the scans.

use paidonce_store::conformance::skipped;
use paidonce_store::{PostgresStore, PostgresTables};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};

use super::server::{self, Schema};
use crate::hot;

/// Rows of every table that a shop fills.
fn fill(schema: &Schema) {
    let (s, n) = (&schema.name, hot::rows());
    schema.execute(&format!(
        "INSERT INTO {s}.event (account, id, source, kind, outcome, payment, content, digest, body, received_at,
            duplicates, last_at)
            SELECT 'stripe/acme/live', 'evt_' || n, 'shop', 'test', 'applied', 'pi_' || n, sha256('a'), sha256('b'),
                convert_to(repeat('x', 300), 'UTF8'), n, 0, n FROM generate_series(1, {n}) AS n;
        INSERT INTO {s}.payment SELECT 'stripe/acme/live', 'pi_' || n, 'o_' || n, '[]', n, 0, 0, NULL
            FROM generate_series(1, {n}) AS n;
        INSERT INTO {s}.fact SELECT 'stripe/acme/live', 'pi_' || n, 'captured', 'f', 0, 'EUR', 1, 1000, 0
            FROM generate_series(1, {n}) AS n;
        INSERT INTO {s}.orders SELECT 'o_' || n, 'customer_' || n, '[]', 1000, 'EUR', 'order', 'h_' || n, 'open', 0, n,
            NULL, sha256('a'), NULL, NULL, NULL, NULL, 1, '[]', '[]', NULL FROM generate_series(1, {n}) AS n;
        INSERT INTO {s}.reference SELECT 'provider', 'stripe/acme/live', 'pi_' || n, 'o_' || n, NULL, NULL, '[]'
            FROM generate_series(1, {n}) AS n;
        INSERT INTO {s}.task SELECT 'order', '', 'o_' || n, 'grant', 'order', '', '', n::text, 'done', 0, n, n, 0, 1, 0,
            0, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM generate_series(1, {n}) AS n;
        INSERT INTO {s}.attempt SELECT 'order', '', 'o_' || n, 'send', 'order', 'mail', 'order_paid', 1, 'w', n, 1,
            'done', '' FROM generate_series(1, {n}) AS n;
        INSERT INTO {s}.entitlement SELECT 'o_' || n, 'order', 'customer_' || n, '[]', n, 1, NULL, NULL, NULL
            FROM generate_series(1, {n}) AS n;
        INSERT INTO {s}.command SELECT 'c_' || n, sha256('a'), '\"key_changed\"', n FROM generate_series(1, {n}) AS n;
        INSERT INTO {s}.audit SELECT n, 'c_' || n, 'somebody', 'place_order', 'order', 'o_' || n, NULL
            FROM generate_series(1, {n}) AS n"
    ));
}

/// By table: scans of the whole, and reads through an index.
fn scans(schema: &Schema) -> Vec<(String, i64, i64)> {
    server::wait_for(async {
        let mut connection = PgConnection::connect(&server::url()).await.unwrap();
        let sql = format!(
            "SELECT relname::text, seq_scan, coalesce(idx_scan, 0) FROM pg_stat_user_tables
            WHERE schemaname = '{}' AND relname NOT IN ('migration', 'api_key') ORDER BY relname",
            schema.name
        );
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut connection).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
    })
}

/// The counts, as soon as they say so: sessions tell theirs in their own time.
fn eventually(schema: &Schema, so: impl Fn(&[(String, i64, i64)]) -> bool) -> Vec<(String, i64, i64)> {
    let looks = (0..5_000).map(|_| scans(schema));
    looks.into_iter().find(|now| so(now)).expect("the sessions' counts come")
}

#[test]
fn no_table_is_read_whole() {
    if skipped("scans", server::missing().as_deref()) {
        return;
    }
    let schema = Schema::default();
    // Opened while the tables are empty, and once more when they are full: both plan what they keep.
    let early = PostgresStore::open(&server::url(), schema.options()).unwrap();
    hot::everything(&early);
    fill(&schema);
    schema.execute(&format!(
        "DELETE FROM {0}.event WHERE payment IN ('pi_hot', 'pi_lost'); DELETE FROM {0}.payment WHERE id LIKE 'pi\\__o%';
        DELETE FROM {0}.fact WHERE payment LIKE 'pi\\__o%'; DELETE FROM {0}.orders WHERE id = 'hot';
        DELETE FROM {0}.reference WHERE order_id = 'hot' OR order_id IS NULL; DELETE FROM {0}.task WHERE subject_id = 'hot';
        DELETE FROM {0}.entitlement WHERE order_id = 'hot'; DELETE FROM {0}.cases; DELETE FROM {0}.audit;
        DELETE FROM {0}.command WHERE id NOT LIKE 'c\\_%'",
        schema.name
    ));
    let before = scans(&schema);
    hot::everything(&early);
    // Sessions tell their counts when they end.
    drop(early);
    let read =
        |now: &[(String, i64, i64)]| now.iter().zip(&before).filter(|(now, before)| now.2 > before.2).count();
    // Nine tables are read by every round.
    let now = eventually(&schema, |now| read(now) >= 9);
    let whole = |now: &[(String, i64, i64)]| -> Vec<String> {
        let more = now.iter().zip(&before).filter(|(now, before)| now.1 > before.1);
        more.map(|(now, before)| format!("{}: {} times", now.0, now.1 - before.1)).collect()
    };
    assert_eq!(whole(&now), Vec::<String>::new());
    // Non-vacuity: the counter sees a scan when there is one.
    schema.execute(&format!("SELECT count(*) FROM {}.event WHERE body = ''", schema.name));
    eventually(&schema, |now| !whole(now).is_empty());
}

/// What a statement would read without a condition on its index's first column: tables and indexes, walked whole.
async fn walked(connection: &mut PgConnection, schema: &str, sql: &str) -> Vec<String> {
    let explain = AssertSqlSafe(format!("EXPLAIN (FORMAT JSON) {sql}"));
    let row = sqlx::query(explain).fetch_one(&mut *connection).await.unwrap();
    let plan: serde_json::Value = serde_json::from_str(row.get_unchecked(0)).unwrap();
    let (mut nodes, mut walked) = (vec![&plan[0]["Plan"]], Vec::new());
    while let Some(node) = nodes.pop() {
        nodes.extend(node["Plans"].as_array().into_iter().flatten());
        let Some(index) = node["Index Name"].as_str() else {
            if node["Node Type"] == "Seq Scan" {
                walked.push(format!("{}: {sql}", node["Relation Name"]));
            }
            continue;
        };
        let first = format!(
            "SELECT attname::text FROM pg_attribute WHERE attrelid = '{schema}.{index}'::regclass AND attnum = 1"
        );
        let first: String =
            sqlx::query(AssertSqlSafe(first)).fetch_one(&mut *connection).await.unwrap().get(0);
        if !node["Index Cond"].as_str().is_some_and(|condition| condition.contains(&format!("({first} "))) {
            walked.push(format!("{index}: {sql}"));
        }
    }
    walked
}

#[test]
fn what_is_asked_for_by_name_is_searched_by_a_key() {
    if skipped("scans", server::missing().as_deref()) {
        return;
    }
    let schema = Schema::default();
    drop(PostgresStore::open(&server::url(), schema.options()).unwrap());
    fill(&schema);
    schema.execute("ANALYZE");
    let name = &schema.name;
    server::wait_for(async {
        let mut connection = PgConnection::connect(&server::url()).await.unwrap();
        // As the store's own connections are told: an empty table is no reason to scan.
        sqlx::raw_sql("SET enable_seqscan = off").execute(&mut connection).await.unwrap();
        let mut whole = Vec::new();
        for sql in PostgresTables::hot_statements(name).unwrap() {
            whole.extend(walked(&mut connection, name, &sql).await);
        }
        assert_eq!(whole, Vec::<String>::new());
        // Non-vacuity: a walk through an index is seen when there is one.
        for (filter, walk) in [("account = 'stripe/acme/live'", 1), ("id = 'evt_1'", 0)] {
            let sql = format!("SELECT * FROM {name}.event WHERE {filter} ORDER BY received_at DESC LIMIT 10");
            assert_eq!(walked(&mut connection, name, &sql).await.len(), walk, "{filter}");
        }
    });
}
