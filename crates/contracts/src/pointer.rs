//! Paths to members: `data.object.id`, `lines.0.id`, and inside `each` those that begin with a dot.
//!
//! `null` is absent: providers write both for "nothing".

use crate::json::{Kind, Value};

/// A path, split once when the contract is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    text: Box<str>,
    steps: Vec<Box<str>>,
    /// From the item of an `each` list, not from the event.
    of_item: bool,
}

impl Pointer {
    /// Splits `text` at its dots.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let of_item = text.starts_with('.');
        let path = text.strip_prefix('.').unwrap_or(text);
        if path.split('.').any(str::is_empty) {
            return Err("a path is names joined by single dots, such as data.object.id");
        }
        if path.contains(['[', ']', '/', '$', '*', '\\']) || path.contains(char::is_whitespace) {
            return Err("a path is names joined by dots; lists are entered by number, such as lines.0.id");
        }
        Ok(Self { text: text.into(), steps: path.split('.').map(Into::into).collect(), of_item })
    }

    /// The path as it was written, which is how mistakes name the member.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_of_item(&self) -> bool {
        self.of_item
    }

    /// The member it leads to, unless that is absent or `null`.
    pub(crate) fn find<'d>(&self, scope: Scope<'d>) -> Option<Value<'d>> {
        let start = if self.of_item { scope.item? } else { scope.event };
        let end = self.steps.iter().try_fold(start, |value, step| value.child(step))?;
        (*end.kind() != Kind::Null).then_some(end)
    }
}

/// Where paths start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'d> {
    /// The event: the whole body, or one item of a batch.
    pub(crate) event: Value<'d>,
    /// One item of a fact's `each` list.
    pub(crate) item: Option<Value<'d>>,
}

/// Alternatives, tried in order: the first that is there counts, and is then held to its form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Pointers(pub(crate) Vec<Pointer>);

impl Pointers {
    pub(crate) fn find<'d>(&self, scope: Scope<'d>) -> Option<(&Pointer, Value<'d>)> {
        self.0.iter().find_map(|pointer| Some((pointer, pointer.find(scope)?)))
    }

    /// All the places, for a sentence that says that none of them is there.
    pub(crate) fn text(&self) -> String {
        let places: Vec<&str> = self.0.iter().map(Pointer::text).collect();
        places.join(" or ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn null_is_absent_and_the_next_place_is_tried() {
        let document = Document::parse(br#"{"new":null,"old":{"id":"x"},"list":[{"id":"y"}]}"#).unwrap();
        let scope = Scope { event: document.root(), item: None };
        let places = Pointers(["new.id", "new", "old.id"].map(|p| Pointer::parse(p).unwrap()).to_vec());
        assert_eq!(places.find(scope).unwrap().0.text(), "old.id");
        assert!(Pointer::parse("list.0.id").unwrap().find(scope).is_some());
        assert!(Pointer::parse(".id").unwrap().find(scope).is_none());
        let item = scope.event.child("list").unwrap().child("0");
        assert!(Pointer::parse(".id").unwrap().find(Scope { item, ..scope }).is_some());
    }

    #[test]
    fn paths_of_other_notations_are_refused() {
        for text in ["", ".", "a..b", "a.", "/a/b", "$.a", "a[0]", "a.*", "a b"] {
            assert!(Pointer::parse(text).is_err(), "{text:?}");
        }
    }
}
