//! The shop on a real Postgres: one licence however often a notification comes, and nothing of a grant when the shop's
//! own statement fails.

// Clippy takes only the bodies of `#[test]` functions for tests; all of this crate is one.
#![allow(clippy::unwrap_used)]

use std::time::{SystemTime, UNIX_EPOCH};

use example_axum_sqlx::Shop;
use paidonce_contracts::{Contract, Secret};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const SECRET: &str = "whsec_of_this_example";

async fn request(port: u16, head: &str, headers: &[(String, String)], body: &str) -> u16 {
    let mut text =
        format!("{head} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\ncontent-type: application/json\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    let mut socket = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    socket.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer[9..12].parse().unwrap()
}

/// Stripe's news that a payment succeeded, signed.
async fn paid(port: u16, event: &str, payment: &str) -> u16 {
    let body = format!(
        r#"{{"id":"{event}","object":"event","livemode":false,"type":"payment_intent.succeeded","data":{{"object":
        {{"id":"{payment}","object":"payment_intent","amount":1990,"amount_received":1990,"currency":"eur",
        "status":"succeeded","latest_charge":"ch_{payment}","metadata":{{}}}}}}}}"#
    );
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let contract = Contract::builtin("stripe", None).unwrap();
    let signed =
        contract.sign(&Secret::new(SECRET.to_owned()), event, body.as_bytes(), now.try_into().unwrap());
    request(port, "POST /webhook", &signed.unwrap(), &body).await
}

async fn ordered(port: u16, id: &str, payment: &str) {
    let cart =
        format!(r#"{{"customer":"alice","sku":"ebook","payment_intent":"{payment}","price":"19.90"}}"#);
    assert_eq!(request(port, &format!("PUT /orders/{id}"), &[], &cart).await, 201);
}

fn server() -> String {
    let usual = || "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable".to_owned();
    std::env::var("PAIDONCE_TEST_POSTGRES").unwrap_or_else(|_| usual())
}

/// Runs a statement beside the shop's database, on the server that tests use.
async fn on_server(sql: String) -> sqlx::Result<()> {
    let mut connection = PgConnection::connect(&server()).await?;
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.map(|_| ())
}

fn url(name: &str) -> String {
    let server = server();
    let (path, options) = server.split_once('?').unwrap_or((&server, ""));
    format!("{}/{name}?{options}", path.rsplit_once('/').unwrap().0)
}

async fn count(database: &mut PgConnection, table: &str) -> i64 {
    let sql = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    sqlx::query(sql).fetch_one(database).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shops_own_rows_commit_with_the_grant_or_not_at_all() {
    if let Err(error) = on_server("SELECT 1".to_owned()).await {
        let required = std::env::var("PAIDONCE_TEST_REQUIRE").is_ok_and(|value| value == "1");
        assert!(!required, "Postgres is required: {error}");
        return println!("SKIPPED: no Postgres answers: {error}");
    }
    let name = format!("paidonce_example_{}", std::process::id());
    on_server(format!("CREATE DATABASE {name}")).await.unwrap();
    let shop = Shop::open(&url(&name), SECRET).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move { axum::serve(listener, shop.router()).await });
    let mut database = PgConnection::connect(&url(&name)).await.unwrap();

    // Eight copies of one notification at once, and another event about the same payment: one licence.
    ordered(port, "1001", "pi_1").await;
    let copies: Vec<_> = (0..8).map(|_| tokio::spawn(paid(port, "evt_1", "pi_1"))).collect();
    for copy in copies {
        assert_eq!(copy.await.unwrap(), 200);
    }
    assert_eq!(paid(port, "evt_2", "pi_1").await, 200);
    assert_eq!(count(&mut database, "licence").await, 1);
    assert_eq!(count(&mut database, "paidonce.entitlement").await, 1);

    // The shop's own statement fails: neither the grant nor the notification is there, and the provider is told so.
    ordered(port, "1002", "pi_2").await;
    let broken = "ALTER TABLE licence ADD CONSTRAINT broken CHECK (order_id <> '1002')";
    sqlx::query(broken).execute(&mut database).await.unwrap();
    assert_eq!(paid(port, "evt_3", "pi_2").await, 503);
    assert_eq!(count(&mut database, "licence").await, 1);
    assert_eq!(count(&mut database, "paidonce.entitlement").await, 1);
    assert_eq!(count(&mut database, "paidonce.event").await, 2);
    sqlx::query("ALTER TABLE licence DROP CONSTRAINT broken").execute(&mut database).await.unwrap();
    assert_eq!(paid(port, "evt_3", "pi_2").await, 200);
    assert_eq!(count(&mut database, "licence").await, 2);

    // A forged one changes nothing.
    assert_eq!(request(port, "POST /webhook", &[], "{}").await, 401);
    assert_eq!(count(&mut database, "paidonce.event").await, 3);

    server.abort();
    drop(database);
    on_server(format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
}
