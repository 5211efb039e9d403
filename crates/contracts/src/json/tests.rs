//! The reader against RFC 8259, against `serde_json` as a judge, and against whatever comes.

use proptest::prelude::*;

use super::*;

#[test]
fn members_are_found_and_know_their_bytes() {
    let document = Document::parse(br#"{"a":{"b":[1, {"c" : "x\u00e9" }],"d":1.10},"e":null}"#).unwrap();
    let a = document.root().child("a").unwrap();
    let item = a.child("b").unwrap().child("1").unwrap();
    assert_eq!(item.raw(), br#"{"c" : "x\u00e9" }"#);
    assert_eq!(*item.child("c").unwrap().kind(), Kind::Text("x\u{e9}".into()));
    assert_eq!(*a.child("d").unwrap().kind(), Kind::Number("1.10"));
    assert_eq!(*document.root().child("e").unwrap().kind(), Kind::Null);
    assert!(document.root().child("b").is_none());
    assert_eq!(document.root().children().count(), 2);
}

fn error(text: &str) -> JsonError {
    Document::parse(text.as_bytes()).unwrap_err()
}

#[test]
fn broken_texts_are_refused_where_they_break() {
    let broken =
        ["{", "{\"a\"", "{\"a\":1,}", "[1,]", "01", "1.", "-", "+1", ".5", "1e", "nul", "'a'", "\"\\x\""];
    for text in
        broken.iter().chain(&["\"\n\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "1 2", "{1:2}"])
    {
        assert!(matches!(error(text), JsonError::Syntax(_)), "{text}");
    }
    assert_eq!(error(" \n"), JsonError::Empty);
    assert_eq!(Document::parse(b"\"\xe9\"").unwrap_err(), JsonError::NotUtf8);
}

#[test]
fn equal_names_are_refused_even_escaped_and_among_many() {
    assert_eq!(error(r#"{"amount":1,"amount":999}"#), JsonError::Duplicate(25));
    assert!(matches!(error(r#"{"x":{"id":1,"\u0069d":2}}"#), JsonError::Duplicate(_)));
    let many: String = (0..40).map(|n| format!("\"m{n}\":0,")).collect();
    assert!(matches!(error(&format!("{{{many}\"m7\":1}}")), JsonError::Duplicate(_)));
    assert!(Document::parse(format!("{{{many}\"m40\":1}}").as_bytes()).is_ok());
}

/// Names that share their first eight bytes, hold zeros, or are the beginning of another.
#[test]
fn members_are_found_by_name_whatever_their_order() {
    let names = [
        "payment_method_types",
        "payment_method",
        "payment",
        "",
        "a",
        "a\\u0000",
        "\u{e9}",
        "payment_methoc",
        "z",
    ];
    let text: Vec<String> = names.iter().enumerate().map(|(n, name)| format!("\"{name}\":{n}")).collect();
    let text = format!("{{{}}}", text.join(","));
    let document = Document::parse(text.as_bytes()).unwrap();
    for (n, name) in names.iter().enumerate() {
        let found = document.root().child(&name.replace("\\u0000", "\0")).unwrap();
        assert_eq!(*found.kind(), Kind::Number(&n.to_string()));
    }
    let sorted: Vec<_> = document.root().members_by_name().map(Value::name).collect();
    assert!(sorted.is_sorted() && sorted.len() == names.len());
    assert!(document.root().child("payment_").is_none());
}

#[test]
fn nesting_ends_at_its_bound() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(Document::parse(nested(DEPTH_MAX).as_bytes()).is_ok());
    assert_eq!(error(&nested(DEPTH_MAX + 1)), JsonError::TooDeep(DEPTH_MAX));
    assert_eq!(error(&"[".repeat(1_000_000)), JsonError::TooDeep(DEPTH_MAX));
}

#[test]
fn one_byte_order_mark_is_read_over() {
    assert!(Document::parse(b"\xef\xbb\xbf{}").is_ok());
    assert!(Document::parse(b"\xef\xbb\xbf\xef\xbb\xbf{}").is_err());
}

/// Texts that are often JSON, or nearly.
fn nearly_json() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "0",
        "-1.5e3",
        "10",
        "true",
        "null",
        " ",
        "\n",
        "\"",
        "\\",
        "é",
        "1",
        ".",
        "\"c\":",
        "{\"d\":[]}",
    ]);
    prop::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

fn same(value: Value<'_>, judge: &serde_json::Value) -> bool {
    match (value.kind(), judge) {
        (Kind::Null, serde_json::Value::Null) => true,
        (Kind::Bool(a), serde_json::Value::Bool(b)) => a == b,
        (Kind::Number(a), serde_json::Value::Number(b)) => a.parse::<f64>().ok() == b.as_f64(),
        (Kind::Text(a), serde_json::Value::String(b)) => a == b,
        (Kind::List, serde_json::Value::Array(items)) => {
            value.children().count() == items.len() && value.children().zip(items).all(|(a, b)| same(a, b))
        }
        (Kind::Object, serde_json::Value::Object(members)) => {
            value.children().count() == members.len()
                && value.children().all(|a| members.get(a.name()).is_some_and(|b| same(a, b)))
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]
    #[test]
    fn agrees_with_serde_json(text in nearly_json()) {
        let judge = serde_json::from_str::<serde_json::Value>(&text);
        match (Document::parse(text.as_bytes()), judge) {
            (Ok(document), Ok(judge)) => prop_assert!(same(document.root(), &judge), "{text}"),
            (Err(JsonError::Duplicate(_)), _) | (Err(_), Err(_)) => {}
            // A number that overflows a float is a number.
            (Ok(_), Err(judge)) if judge.to_string().contains("out of range") => {}
            (ours, judge) => prop_assert!(false, "{text}: {ours:?} but {judge:?}"),
        }
    }

    #[test]
    fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Document::parse(&bytes);
    }
}
