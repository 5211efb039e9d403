//! `/v1/events`.

use serde_json::json;

use crate::shop::{Shop, paid};

#[test]
fn events_are_listed_by_source_outcome_and_id_without_their_bodies() {
    let shop = Shop::open();
    shop.deliver("shop", &paid("e1", "p1", "nobody", "19.90"));
    shop.deliver("hold", &paid("e1", "p1", "nobody", "19.90"));
    shop.deliver("shop", br#"{"id":"e2","type":"weather.changed"}"#);
    let ids = |query: &str| {
        let answer = shop.get(&format!("/v1/events{query}"));
        assert!(!answer.body.contains("canary-body"), "a body is shown");
        let rows = answer.json()["rows"].as_array().unwrap().clone();
        let mut ids: Vec<_> = rows.iter().map(|row| format!("{} {}", row["source"], row["id"])).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids("").len(), 3);
    assert_eq!(ids("?source=shop"), [r#""shop" "e1""#, r#""shop" "e2""#]);
    assert_eq!(ids("?id=e1"), [r#""hold" "e1""#, r#""shop" "e1""#]);
    assert_eq!(ids("?outcome=ignored"), [r#""shop" "e2""#]);
    assert_eq!(shop.get("/v1/events?outcome=nonsense").status, 400);
    let row = &shop.get("/v1/events?outcome=ignored").json()["rows"][0];
    assert_eq!(
        (&row["account"], &row["mode"], &row["body_bytes"]),
        (&json!("main"), &json!("test"), &json!(36))
    );
}
