//! `/v1/entitlements`.

use serde_json::json;

use crate::shop::{Shop, paid};

#[test]
fn may_this_customer_have_this() {
    let shop = Shop::open();
    shop.place("order-1");
    let check = |customer: &str, sku: &str| {
        shop.get(&format!("/v1/entitlements/check?customer={customer}&sku={sku}")).json()["entitled"].clone()
    };
    assert_eq!(check("canary-customer-77", "ebook"), json!(false));
    shop.deliver("shop", &paid("e", "p", "order-1", "19.90"));
    shop.until(|ledger| !ledger.entitlements.rows().is_empty());
    assert_eq!(check("canary-customer-77", "ebook"), json!(true));
    assert_eq!(check("canary-customer-77", "other"), json!(false));
    assert_eq!(check("another", "ebook"), json!(false));
    assert_eq!(shop.get("/v1/entitlements/check?sku=ebook").status, 400);
    let rows =
        |query: &str| shop.get(&format!("/v1/entitlements{query}")).json()["rows"].as_array().unwrap().len();
    assert_eq!((rows("?order=order-1&active=true"), rows("?sku=other"), rows("")), (1, 0, 1));
}

#[test]
fn a_person_takes_back_and_gives_back() {
    let shop = Shop::open();
    shop.granted("order-1");
    let row = || shop.get("/v1/entitlements?order=order-1").json()["rows"][0].clone();
    assert_eq!((&row()["revoked_by"], &row()["kept_by"]), (&json!(null), &json!(null)));
    let revoked = shop.post("/v1/entitlements/order-1/order/revoke", &json!({"reason": "stolen card"}));
    let expected = json!({"order": "order-1", "unit": "order", "active": false});
    assert_eq!((revoked.status, revoked.json()), (200, expected));
    assert_eq!((&row()["active"], &row()["revoked_by"]), (&json!(false), &json!("operate")));
    shop.deliver("shop", &paid("more", "p-order-1", "order-1", "19.90"));
    assert_eq!(row()["active"], false, "later facts do not give it back");
    let reinstated = shop.post("/v1/entitlements/order-1/order/reinstate", &json!({"reason": "it was not"}));
    assert_eq!(reinstated.json()["active"], true);
    assert_eq!((&row()["active"], &row()["kept_by"]), (&json!(true), &json!("operate")));
    assert_eq!(shop.get("/v1/orders/order-1").json()["entitlements"][0]["kept_by"], "operate");
    assert_eq!(shop.ledger().entitlements.rows().len(), 1);
}
