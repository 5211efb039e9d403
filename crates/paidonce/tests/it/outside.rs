//! `/v1/orders/{id}/outside`.

use serde_json::{Value, json};

use crate::shop::{Shop, paid};

fn moved(what: &str, id: &str, amount: &str) -> Value {
    json!({"what": what, "id": id, "money": {"amount": amount, "unit": "EUR"}, "reason": "at the counter"})
}

fn refunded(id: &str, amount: &str, payment: Value) -> Value {
    let mut request = moved("refunded", id, amount);
    request["payment"] = payment;
    request
}

#[test]
fn money_outside_pays_grants_and_can_be_taken_back() {
    let shop = Shop::open();
    shop.place("order-1");
    let noted = shop.post("/v1/orders/order-1/outside", &moved("paid", "receipt-7", "19.9"));
    let expected = json!({"order": "order-1", "what": "paid", "id": "receipt-7",
        "money": {"amount": "19.90", "unit": "EUR"}});
    assert_eq!((noted.status, noted.json()), (200, expected));
    shop.until(|ledger| !ledger.entitlements.rows().is_empty());
    let standing = || shop.get("/v1/orders/order-1").json()["standing"].clone();
    assert_eq!(standing(), "paid");
    assert_eq!(shop.post("/v1/orders/order-1/outside", &moved("paid", "receipt-7", "19.90")).status, 200);
    assert_eq!(standing(), "paid", "noted twice it counts once");
    let part = refunded("cash-1", "4.90", json!({"id": "receipt-7"}));
    assert_eq!(shop.post("/v1/orders/order-1/outside", &part).status, 200);
    assert_eq!(standing(), "part_refunded");
    let reversed = moved("paid_reversed", "receipt-7", "19.90");
    assert_eq!(shop.post("/v1/orders/order-1/outside", &reversed).status, 200);
    assert_eq!(standing(), "refunded");
}

#[test]
fn a_refund_outside_is_of_a_payment_of_this_order() {
    let shop = Shop::open();
    shop.place("order-1");
    shop.place("order-2");
    shop.deliver("shop", &paid("e", "p", "order-1", "10.00"));
    let request = refunded("cash-1", "10.00", json!({"source": "shop", "id": "p"}));
    let refused = shop.post("/v1/orders/order-2/outside", &request);
    assert_eq!((refused.status, refused.code().as_str()), (409, "not_of_this_order"));
    let noted = shop.post("/v1/orders/order-1/outside", &request);
    assert_eq!(noted.json()["payment"], json!({"source": "shop", "id": "p"}));
    assert_eq!(shop.get("/v1/orders/order-1").json()["standing"], "refunded");
}

#[test]
fn what_is_wrong_with_a_request_is_told_by_member() {
    let shop = Shop::open();
    shop.place("order-1");
    let before = shop.ledger();
    for (request, member) in [
        (moved("paid", "", "5.00"), "id"),
        (moved("paid", "r", "0.00"), "money.amount"),
        (moved("paid", "r", "-5.00"), "money.amount"),
        (moved("paid", "r", "5.001"), "money.amount"),
        (moved("refunded", "r", "5.00"), "payment"),
        (moved("given", "r", "5.00"), "what"),
        (refunded("r", "5.00", json!({"source": "nobody", "id": "p"})), "payment.source"),
        (refunded("r", "5.00", json!({"id": ""})), "payment.id"),
    ] {
        let refused = shop.post("/v1/orders/order-1/outside", &request);
        assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_request"), "{request}");
        assert_eq!(refused.json()["mistakes"][0]["member"], member, "{request}");
    }
    let mut paid = moved("paid", "r", "5.00");
    paid["payment"] = json!({"id": "p"});
    assert_eq!(shop.post("/v1/orders/order-1/outside", &paid).status, 400);
    assert!(shop.ledger() == before);
}
