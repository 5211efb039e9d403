//! Merging a source's own settings over a contract: tables member by member, everything else replaced.
//!
//! `[[event]]` is the exception: a type that the overlay names replaces the contract's entries for that type and
//! leaves the others alone. It does not judge what it merges; `compile` does.

use toml::{Table, Value};

/// The merged table, and for each of its `[[event]]` entries the index it has in the contract's own text.
pub(crate) fn merge(contract: Table, overlay: Option<&Table>) -> (Table, Vec<Option<usize>>) {
    let mut merged = contract;
    let own = match merged.get("event") {
        Some(Value::Array(events)) => events.len(),
        _ => 0,
    };
    let mut origin: Vec<Option<usize>> = (0..own).map(Some).collect();
    let Some(overlay) = overlay else { return (merged, origin) };
    for (key, value) in overlay {
        match (merged.get_mut(key), value) {
            (Some(Value::Array(own)), Value::Array(brought)) if key == "event" => {
                merge_events(own, brought, &mut origin);
            }
            (Some(Value::Table(own)), Value::Table(brought)) => merge_tables(own, brought),
            _ => {
                if let (Value::Array(brought), "event") = (value, key.as_str()) {
                    origin = vec![None; brought.len()];
                }
                merged.insert(key.clone(), value.clone());
            }
        }
    }
    (merged, origin)
}

fn merge_tables(own: &mut Table, brought: &Table) {
    for (key, value) in brought {
        match (own.get_mut(key), value) {
            (Some(Value::Table(own)), Value::Table(brought)) => merge_tables(own, brought),
            _ => {
                own.insert(key.clone(), value.clone());
            }
        }
    }
}

fn merge_events(own: &mut Vec<Value>, brought: &[Value], origin: &mut Vec<Option<usize>>) {
    let replaced: Vec<&str> = brought.iter().flat_map(types).collect();
    for event in own.iter_mut() {
        drop_types(event, &replaced);
    }
    let kept: Vec<bool> = own.iter().map(|event| types(event).next().is_some()).collect();
    let mut keep = kept.iter();
    own.retain(|_| *keep.next().unwrap_or(&true));
    let mut keep = kept.iter();
    origin.retain(|_| *keep.next().unwrap_or(&true));
    own.extend(brought.iter().cloned());
    origin.extend(brought.iter().map(|_| None));
}

/// The types of one entry: `type = "a"` or `type = ["a", "b"]`.
fn types(event: &Value) -> impl Iterator<Item = &str> {
    let (one, many) = match event.get("type") {
        Some(Value::String(one)) => (Some(one.as_str()), [].as_slice()),
        Some(Value::Array(many)) => (None, many.as_slice()),
        _ => (None, [].as_slice()),
    };
    one.into_iter().chain(many.iter().filter_map(Value::as_str))
}

fn drop_types(event: &mut Value, replaced: &[&str]) {
    let gone = |kind: &Value| kind.as_str().is_some_and(|kind| replaced.contains(&kind));
    match event.get_mut("type") {
        Some(Value::Array(many)) => many.retain(|kind| !gone(kind)),
        Some(one) if gone(one) => *one = Value::Array(Vec::new()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(contract: &str, overlay: &str, expect: &str, origin: &[Option<usize>]) {
        let overlay: Table = overlay.parse().unwrap();
        let (merged, origins) = merge(contract.parse().unwrap(), Some(&overlay));
        assert_eq!(merged, expect.parse::<Table>().unwrap());
        assert_eq!(origins, origin);
    }

    #[test]
    fn tables_merge_and_all_else_is_replaced() {
        check(
            "a = 1\nlist = [1, 2]\n[t]\nx = 1\n[t.key]\nencoding = 'hex'",
            "list = [3]\n[t]\ny = 2\nkey = 'utf8'",
            "a = 1\nlist = [3]\n[t]\nx = 1\ny = 2\nkey = 'utf8'",
            &[],
        );
    }

    #[test]
    fn an_event_type_replaces_its_own_entries_only() {
        check(
            "[[event]]\ntype = 'a'\n[[event]]\ntype = ['a', 'b']\n[[event]]\ntype = 'c'",
            "[[event]]\ntype = 'a'\nignore = true",
            "[[event]]\ntype = ['b']\n[[event]]\ntype = 'c'\n[[event]]\ntype = 'a'\nignore = true",
            &[Some(1), Some(2), None],
        );
    }
}
