//! A JSON text as a flat list of nodes that point into it: numbers stay text, strings are borrowed where they
//! hold no escape, and every value knows its own bytes (an item of a batch is stored as it came).
//!
//! Not a general JSON library: nothing is written, nothing becomes a float, nothing is looked up by hash.
//! `serde_json` is not used because its values turn numbers into floats and let the last of two equal members
//! win, and its switch against the first (`arbitrary_precision`) would change every other crate of a build.

mod parse;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub(crate) use parse::JsonError;

/// The deepest nesting that is read. Providers' events stay below ten; the parser recurses once a level.
pub(crate) const DEPTH_MAX: usize = 32;

/// A parsed text. Node 0 is its outermost value.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    text: &'a str,
    nodes: Vec<Node<'a>>,
    /// The members of every object by name, object after object.
    by_name: Vec<usize>,
}

#[derive(Debug)]
struct Node<'a> {
    /// The member's name; empty for an item of a list and for the outermost value.
    name: Cow<'a, str>,
    kind: Kind<'a>,
    /// Its bytes: `text[start..end]`.
    start: usize,
    end: usize,
    /// The index behind its last descendant: its next sibling, if there is one.
    next: usize,
    /// Of an object: where its members are in `by_name`.
    members: (usize, usize),
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    /// `null`, which the reader treats as absent.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, digit for digit as it was written.
    Number(&'a str),
    /// A string, unescaped.
    Text(Cow<'a, str>),
    /// A list.
    List,
    /// An object; its names are known to differ.
    Object,
}

/// One value of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'d> {
    document: &'d Document<'d>,
    at: usize,
}

impl<'a> Document<'a> {
    /// Reads the whole of `bytes`, behind one UTF-8 byte order mark if there is one.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, JsonError> {
        parse::document(bytes)
    }

    pub(crate) fn root(&self) -> Value<'_> {
        Value { document: self, at: 0 }
    }
}

impl<'d> Value<'d> {
    fn node(self) -> &'d Node<'d> {
        &self.document.nodes[self.at]
    }

    pub(crate) fn kind(self) -> &'d Kind<'d> {
        &self.node().kind
    }

    /// The member's name, empty if it is none.
    pub(crate) fn name(self) -> &'d str {
        &self.node().name
    }

    /// The value's own bytes.
    pub(crate) fn raw(self) -> &'d [u8] {
        let node = self.node();
        &self.document.text.as_bytes()[node.start..node.end]
    }

    /// Its members or items, as they stand in the text; nothing for a scalar.
    pub(crate) fn children(self) -> impl Iterator<Item = Self> {
        let (document, end) = (self.document, self.node().next);
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            let child = (at < end).then_some(Self { document, at })?;
            at = child.node().next;
            Some(child)
        })
    }

    fn member_indices(self) -> &'d [usize] {
        let (first, end) = self.node().members;
        &self.document.by_name[first..end]
    }

    /// An object's members in the order of their names' bytes; nothing for anything else.
    pub(crate) fn members_by_name(self) -> impl Iterator<Item = Self> {
        self.member_indices().iter().map(move |at| Self { at: *at, ..self })
    }

    /// The member of that name, or the item at that position of a list.
    pub(crate) fn child(self, name: &str) -> Option<Self> {
        match self.kind() {
            Kind::Object => {
                let members = self.member_indices();
                let found = members.binary_search_by(|at| (*self.document.nodes[*at].name).cmp(name)).ok()?;
                Some(Self { at: members[found], ..self })
            }
            Kind::List => self.children().nth(name.parse().ok()?),
            _ => None,
        }
    }
}
