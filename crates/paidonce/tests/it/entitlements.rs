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
