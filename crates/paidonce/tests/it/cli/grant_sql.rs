//! `[grant]`: the merchant's own statements, checked against the live database, run with each grant, and what becomes of
//! a grant that they refuse. The same story on each database.

use std::sync::atomic::{AtomicU32, Ordering};

use paidonce_store::conformance::skipped;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, MySqlConnection, PgConnection, Row as _};

use super::{PAID, Place};

const STATEMENT: &str =
    "INSERT INTO licences (entitlement, sku, customer) VALUES (:entitlement, :sku, :customer)";

/// A database that goes with the test, and how a shop speaks to it.
enum Shop {
    Sqlite(Place),
    Postgres(Place, String),
    Mysql(Place, String),
}

fn now<T>(work: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

async fn postgres(url: &str, sql: &str) -> sqlx::Result<()> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.map(|_| ())
}

async fn mysql(url: &str, sql: &str) -> sqlx::Result<()> {
    let mut connection = MySqlConnection::connect(url).await?;
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.map(|_| ())
}

fn named(url: &str, name: &str) -> String {
    let (server, options) = url.split_once('?').map_or((url, ""), |(server, options)| (server, options));
    let (host, _) = server.rsplit_once('/').expect("a URL names a database");
    format!("{host}/{name}{}{options}", if options.is_empty() { "" } else { "?" })
}

fn server(variable: &str, usual: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| usual.to_owned())
}

fn fresh_name() -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    format!("paidonce_grant_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}

fn postgres_server() -> String {
    server("PAIDONCE_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable")
}

fn mysql_server() -> String {
    server("PAIDONCE_TEST_MYSQL", "mysql://root@127.0.0.1:3306/mysql")
}

impl Shop {
    fn on_postgres() -> Option<Self> {
        let (server, name) = (postgres_server(), fresh_name());
        let missing = now(postgres(&server, "SELECT 1")).err().map(|error| format!("no Postgres: {error}"));
        if skipped("grant.sql on Postgres", missing.as_deref()) {
            return None;
        }
        now(postgres(&server, &format!("CREATE DATABASE {name}"))).unwrap();
        Some(Self::Postgres(Place::empty(), name))
    }

    fn on_mysql() -> Option<Self> {
        let (server, name) = (mysql_server(), fresh_name());
        let missing = now(mysql(&server, "SELECT 1")).err().map(|error| format!("no MariaDB: {error}"));
        if skipped("grant.sql on MariaDB", missing.as_deref()) {
            return None;
        }
        now(mysql(&server, &format!("CREATE DATABASE {name}"))).unwrap();
        Some(Self::Mysql(Place::empty(), name))
    }

    fn place(&self) -> &Place {
        match self {
            Self::Sqlite(place) | Self::Postgres(place, _) | Self::Mysql(place, _) => place,
        }
    }

    fn url(&self) -> String {
        match self {
            Self::Sqlite(_) => "sqlite:shop.db".to_owned(),
            Self::Postgres(_, name) => named(&postgres_server(), name),
            Self::Mysql(_, name) => named(&mysql_server(), name),
        }
    }

    fn execute(&self, sql: &str) {
        match self {
            Self::Sqlite(place) => {
                rusqlite::Connection::open(place.path("shop.db")).unwrap().execute_batch(sql).unwrap();
            }
            Self::Postgres(..) => now(postgres(&self.url(), sql)).unwrap(),
            Self::Mysql(..) => now(mysql(&self.url(), sql)).unwrap(),
        }
    }

    /// The skus of an entitlement's licences.
    fn licences(&self, entitlement: &str) -> Vec<String> {
        let sql = format!("SELECT sku FROM licences WHERE entitlement = '{entitlement}' ORDER BY sku");
        match self {
            Self::Sqlite(place) => {
                let connection = rusqlite::Connection::open(place.path("shop.db")).unwrap();
                let mut statement = connection.prepare(&sql).unwrap();
                statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
            }
            Self::Postgres(..) => now(async {
                let mut connection = PgConnection::connect(&self.url()).await?;
                let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut connection).await?;
                Ok(rows.iter().map(|row| row.get(0)).collect())
            })
            .unwrap(),
            Self::Mysql(..) => now(async {
                let mut connection = MySqlConnection::connect(&self.url()).await?;
                let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut connection).await?;
                Ok(rows.iter().map(|row| row.get(0)).collect())
            })
            .unwrap(),
        }
    }

    fn configure(&self, grant: &str) {
        let (name, value) = super::SECRET;
        assert!(!value.is_empty());
        self.place().write(
            "paidonce.toml",
            &format!(
                "[server]\npublic = \"127.0.0.1:0\"\n[store]\nurl = \"{}\"\n[log]\nlevel = \"off\"\n\
                 [[source]]\nname = \"stripe\"\ncontract = \"stripe\"\naccount = \"main\"\nmode = \"test\"\n\
                 secrets = [\"env:{name}\"]\n[grant]\n{grant}\n",
                self.url()
            ),
        );
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        // What is left of a database whose test failed is for whoever looks at it.
        let _ = match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(_, name) => {
                now(postgres(&postgres_server(), &format!("DROP DATABASE {name} WITH (FORCE)")))
            }
            Self::Mysql(_, name) => now(mysql(&mysql_server(), &format!("DROP DATABASE {name}"))),
        };
    }
}

fn place_order(place: &Place, order: &str, payment: &str) {
    let reference = format!("stripe={payment}");
    let ran = place.run(&[
        "orders",
        "add",
        "--id",
        order,
        "--customer",
        "c1",
        "--line",
        "sku=ebook,quantity=1",
        "--line",
        "sku=film,quantity=2",
        "--total",
        "19.90 EUR",
        "--reference",
        &reference,
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

fn pay(place: &Place, public: &str, n: usize) {
    let paid = PAID.replace("evt_1", &format!("evt_{n}")).replace("pi_1", &format!("pi_{n}"));
    place.write("paid.json", &paid.replace("ch_1", &format!("ch_{n}")));
    let url = format!("http://{public}/in/stripe");
    let ran = place.run(&["send", "paid.json", "--source", "stripe", "--url", &url]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

/// Both `config check` and `serve` refuse, in the same words.
fn refused(shop: &Shop, words: &str) {
    let (check, serve) = (shop.place().run(&["config", "check"]), shop.place().run(&["serve"]));
    assert_eq!((check.code, serve.code), (2, 2), "{} | {}", check.err, serve.err);
    assert!(check.err.contains(words), "{words} is not in {}", check.err);
    assert_eq!(check.err, serve.err);
}

fn story(shop: &Shop) {
    let place = shop.place();
    // Mistakes, each with its place.
    shop.configure("sql = \"\"\"SELECT 1;\n\nSELECT :price\"\"\"");
    refused(shop, "paidonce.toml:14: grant.sql: line 3: it names :price, and there is only :order");
    place.write("grant.sql", "-- licences\nDROP TABLE licences;\n");
    shop.configure("sql_file = \"grant.sql\"");
    refused(shop, "grant.sql:2: a statement must begin with one of INSERT");
    place.write("grant.sql", &format!("-- licences\n{STATEMENT};\n"));
    assert_eq!(place.run(&["orders", "list"]).code, 0, "a command needs no statements");
    refused(shop, "grant.sql, line 2: the database does not understand the statement");
    shop.execute(
        "CREATE TABLE licences (entitlement VARCHAR(100) NOT NULL, sku VARCHAR(50) NOT NULL, customer VARCHAR(50),
        PRIMARY KEY (entitlement, sku))",
    );
    shop.configure("sql_file = \"grant.sql\"\nattempts_max = 1");
    let ran = place.run(&["config", "check"]);
    assert_eq!(ran.code, 0, "{}", ran.err);

    // The second order's licence is there already: its grant fails at the second line, and holds up no other.
    shop.execute("INSERT INTO licences (entitlement, sku) VALUES ('1002/order', 'film')");
    let serving = place.serve();
    place_order(place, "1001", "pi_1");
    place_order(place, "1002", "pi_2");
    pay(place, &serving.public, 2);
    for _ in 0..5 {
        pay(place, &serving.public, 1);
    }
    let granted = |order: &'static str| move |shown: &Value| shown.to_string().contains(order);
    place.wait_for(&["entitlements", "list", "--order", "1001"], granted("granted_at"));
    assert_eq!(shop.licences("1001/order"), ["ebook", "film"]);
    let cases = place.wait_for(&["cases", "list"], granted("task_failed"));
    assert!(cases.to_string().contains("grant.sql failed, so nothing was granted"), "{cases:#}");
    assert_eq!(shop.licences("1002/order"), ["film"], "nothing of the grant is there");
    let explained = place.run(&["explain", "1002"]);
    assert!(explained.out.contains("not granted"), "{}", explained.out);

    // Mended, and tried again by a person: granted, and the case is settled.
    shop.execute("DELETE FROM licences WHERE entitlement = '1002/order'");
    let retried = place.run(&["tasks", "retry", "1002", "--reason", "the stray licence is gone"]);
    assert_eq!(retried.code, 0, "{}", retried.err);
    place.wait_for(&["entitlements", "list", "--order", "1002"], granted("granted_at"));
    assert_eq!(shop.licences("1002/order"), ["ebook", "film"]);
    let open = place.json(&["cases", "list"]);
    assert!(!open.to_string().contains("task_failed"), "{open:#}");
    let audit = place.run(&["audit"]);
    assert_eq!(audit.code, 0, "{} {}", audit.out, audit.err);
}

#[test]
fn p3_grant_sql_on_sqlite() {
    story(&Shop::Sqlite(Place::empty()));
}

#[test]
fn p3_grant_sql_on_postgres() {
    if let Some(shop) = Shop::on_postgres() {
        story(&shop);
    }
}

#[test]
fn p3_grant_sql_on_mariadb() {
    if let Some(shop) = Shop::on_mysql() {
        story(&shop);
    }
}

#[test]
fn a_store_without_sql_refuses_the_section() {
    let place = Place::empty();
    let grant = format!("[grant]\nsql = \"{STATEMENT}\"\n");
    for url in ["memory:", "s3://bucket/ledger", "nats://127.0.0.1:4222/bucket"] {
        place.write("paidonce.toml", &format!("[store]\nurl = \"{url}\"\n{grant}"));
        let ran = place.run(&["config", "check"]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("paidonce.toml:3: grant.sql runs in the transaction"), "{}", ran.err);
    }
    place.write("paidonce.toml", &format!("[store]\nurl = \"env:PAIDONCE_TEST_URL\"\n{grant}"));
    let ran = place.run_with(&["config", "check"], &[("PAIDONCE_TEST_URL", "memory:")]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("grant.sql runs in the transaction"), "{}", ran.err);
}
