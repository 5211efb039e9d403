//! `keys`: shown once, kept as a digest, revoked for good.

use super::Place;

#[test]
fn a_key_is_made_listed_and_revoked() {
    let place = Place::new("on");
    let added = place.json(&["keys", "add", "shop", "--scope", "view"]);
    let key = added["key"].as_str().unwrap();
    assert!(key.starts_with("pk_"));
    let listed = place.run(&["keys", "list"]);
    assert!(listed.out.contains("shop") && !listed.out.contains(key), "{}", listed.out);
    assert_eq!(place.run(&["keys", "add", "shop"]).code, 1);
    let revoked = place.json(&["keys", "revoke", "shop", "--reason", "left"]);
    assert!(revoked[0]["revoked_at"].is_string(), "{revoked}");
    assert_eq!(place.run(&["keys", "add", "shop"]).code, 1, "a name means one key for ever");
    assert_eq!(place.run(&["keys", "revoke", "nobody", "--reason", "x"]).code, 1);
}
