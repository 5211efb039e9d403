//! `--server`: the same commands over HTTP, with the same output.

use super::Place;

#[test]
fn both_ways_show_the_same() {
    let place = Place::new("on");
    let key = place.json(&["keys", "add", "shop"])["key"].as_str().unwrap().to_owned();
    let serving = place.serve();
    let server = format!("http://{}", serving.api);
    let remote = |args: &[&str]| {
        let global = ["--server", &server, "--key", "env:PAIDONCE_TEST_KEY"];
        place.run_with(&[&global[..], args].concat(), &[("PAIDONCE_TEST_KEY", &key)])
    };
    let add = ["orders", "add", "--id", "a/1", "--customer", "c1", "--line", "ebook", "--total", "19.90 EUR"];
    assert_eq!(remote(&add).code, 0, "{}", remote(&add).err);
    let registered = remote(&["references", "add", "a/1", "stripe=pi_1"]);
    assert_eq!(registered.code, 0, "{}", registered.err);
    place.pay(&serving, &["--times", "2"]);
    place.wait_for(&["entitlements", "list"], |list| !list["rows"].as_array().unwrap().is_empty());
    let grant = place.json(&["tasks", "list"])["rows"][0]["handle"].as_str().unwrap().to_owned();
    let asked: [&[&str]; 11] = [
        &["orders", "list"],
        &["orders", "show", "a/1"],
        &["explain", "a/1"],
        &["events", "list"],
        &["events", "show", "evt_1"],
        &["entitlements", "check", "--customer", "c1", "--sku", "ebook"],
        &["cases", "list"],
        &["audit", "log", "--order", "a/1"],
        &["tasks", "list"],
        &["tasks", "list", "--kind", "grant", "--state", "done"],
        &["tasks", "show", &grant],
    ];
    for args in asked {
        let (here, there) = (place.run(args), remote(args));
        assert_eq!((here.code, &here.out), (there.code, &there.out), "{args:?}: {}", there.err);
        let json = [&["--json"], args].concat();
        assert_eq!(place.run(&json).out, remote(&json).out, "{args:?}");
    }
    let refused = remote(&["orders", "cancel", "a/1", "--reason", "too late"]);
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert_eq!(remote(&["orders", "show", "none"]).code, 1);
    assert_eq!(remote(&["audit"]).code, 2);
}

#[test]
fn a_wrong_key_and_a_missing_server_are_told_apart() {
    let place = Place::new("off");
    let serving = place.serve();
    let server = format!("http://{}", serving.api);
    let ask = |server: &str| {
        let args = ["--server", server, "--key", "env:PAIDONCE_TEST_KEY", "orders", "list"];
        place.run_with(&args, &[("PAIDONCE_TEST_KEY", "pk_wrong")])
    };
    assert_eq!(ask(&server).code, 1);
    assert_eq!(ask("http://127.0.0.1:1").code, 4);
    assert_eq!(place.run(&["--server", &server, "orders", "list"]).code, 2);
}
