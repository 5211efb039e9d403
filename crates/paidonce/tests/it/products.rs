//! `/v1/products`, `/v1/stock`, and `paidonce products`.

use serde_json::json;

use crate::cli::Place;
use crate::shop::{Shop, order, paid};

fn ticket(price: &str, stock: impl serde::Serialize) -> serde_json::Value {
    json!({"sku": "ebook", "prices": [{"amount": price, "unit": "EUR"}], "stock": stock})
}

#[test]
fn the_catalogue_prices_orders_and_counts_what_is_left() {
    let shop = Shop::open();
    let set = shop.post("/v1/products", &ticket("19.90", 2));
    assert_eq!((set.status, set.json()), (200, ticket("19.90", 2)));
    shop.place("order-1");
    let mut cheaper = order("order-2");
    cheaper["total"]["amount"] = json!("0.01");
    let refused = shop.post("/v1/orders", &cheaper);
    assert_eq!((refused.status, refused.code().as_str()), (409, "price_differs"));
    assert!(refused.detail().contains("19.90 EUR"), "{refused:?}");
    let mut foreign = order("order-2");
    foreign["lines"].as_array_mut().unwrap().push(json!({"sku": "poster"}));
    assert_eq!(shop.post("/v1/orders", &foreign).code(), "not_for_sale");
    shop.deliver("shop", &paid("e", "p", "order-1", "19.90"));
    shop.place("order-2");
    assert_eq!(shop.post("/v1/orders", &order("order-3")).code(), "out_of_stock");
    let stock = json!({"sku": "ebook", "stock": 2, "free": 0, "reserved": 1, "sold": 1});
    assert_eq!(shop.get("/v1/stock").json()["rows"], json!([stock]));
    assert_eq!(shop.post("/v1/products", &ticket("19.90", 1)).code(), "stock_taken");
    assert_eq!(shop.post("/v1/orders/order-2/cancel", &json!({"reason": "x"})).status, 200);
    assert_eq!(shop.get("/v1/products").json()["rows"][0]["free"], 1);
    assert_eq!(shop.post("/v1/products", &ticket("5", "unlimited")).status, 200);
    let shown = shop.get("/v1/products").json();
    assert_eq!(shown["rows"][0]["prices"], json!([{"amount": "5.00", "unit": "EUR"}]));
    assert_eq!(shown["rows"][0]["free"], "unlimited");
    assert_eq!(shop.audited("set_product").len(), 2);
}

#[test]
fn a_product_that_is_wrong_is_refused_whole() {
    let shop = Shop::open();
    for wrong in [
        json!({"sku": "", "prices": [{"amount": "1", "unit": "EUR"}], "stock": 1}),
        json!({"sku": "a", "prices": [], "stock": 1}),
        json!({"sku": "a", "prices": [{"amount": "1", "unit": "EUR"}, {"amount": "2", "unit": "EUR"}], "stock": 1}),
        json!({"sku": "a", "prices": [{"amount": "1", "unit": "EUR"}], "stock": -1}),
        json!({"sku": "a", "prices": [{"amount": "1", "unit": "EUR"}], "stock": "many"}),
        json!({"sku": "a", "prices": [{"amount": "1", "unit": "EUR"}]}),
    ] {
        assert_eq!(shop.post("/v1/products", &wrong).status, 400, "{wrong}");
    }
    assert!(shop.ledger().products.rows().is_empty());
}

#[test]
fn a_file_is_imported_directly_and_through_a_server() {
    let place = Place::new("on");
    place.write(
        "catalogue.csv",
        "sku,price,stock\nticket,10.00 EUR; 11.00 USD,100\nsong,1.50 EUR,unlimited\n",
    );
    let serving = place.serve();
    for _ in 0..2 {
        assert_eq!(place.json(&["products", "import", "catalogue.csv"]), json!({"products": 2}));
    }
    let added = place.json(&["keys", "add", "shop", "--scope", "operate"]);
    place.write("key", added["key"].as_str().unwrap());
    let url = format!("http://{}", serving.api);
    let key = format!("file:{}", place.path("key").display());
    let remote = ["--server", &url, "--key", &key];
    let imported = place.json(&[&remote[..], &["products", "import", "catalogue.csv"]].concat());
    assert_eq!(imported, json!({"products": 2}));
    let direct = place.json(&["products", "list"]);
    assert_eq!(place.json(&[&remote[..], &["products", "list"]].concat()), direct);
    let rows = direct["rows"].as_array().unwrap();
    let row = |sku: &str| rows.iter().find(|row| row["sku"] == sku).unwrap();
    assert_eq!((&row("ticket")["free"], &row("song")["free"]), (&json!(100), &json!("unlimited")));
    place.write("wrong.csv", "sku,price,stock\nnew,10.00 EUR,1\nbad,10,1\n");
    let wrong = place.run(&["products", "import", "wrong.csv"]);
    assert_ne!(wrong.code, 0);
    assert!(wrong.err.contains("bad"), "{}", wrong.err);
    assert_eq!(place.json(&["products", "list"])["rows"].as_array().unwrap().len(), 2);
}
