//! The grammar of RFC 8259, strictly, and no more: no comments, no trailing commas, no lone surrogates.
//!
//! Two equal names in one object are refused everywhere: readers disagree about which of them counts, so one
//! signed text could mean two amounts.

use std::borrow::Cow;
use std::fmt;

use super::{DEPTH_MAX, Document, Kind, Node};

/// A guess for the first allocation: events have about one value for so many bytes.
const BYTES_PER_NODE: usize = 12;

/// The bytes that stand for themselves in a string. (A table: four instructions a byte instead of sixteen.)
const PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut control = 0;
    while control < 0x20 {
        plain[control] = false;
        control += 1;
    }
    plain[b'"' as usize] = false;
    plain[b'\\' as usize] = false;
    plain
};

/// Why a body is no JSON that can be trusted. Positions are bytes behind the byte order mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonError {
    /// The bytes are no UTF-8.
    NotUtf8,
    /// Nothing but white space.
    Empty,
    /// The grammar is broken here, or the text ends here too early.
    Syntax(usize),
    /// An object that ends here has two members of one name.
    Duplicate(usize),
    /// Deeper than [`DEPTH_MAX`].
    TooDeep(usize),
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 => write!(f, "not UTF-8"),
            Self::Empty => write!(f, "empty"),
            Self::Syntax(at) => write!(f, "not JSON, at byte {at}"),
            Self::Duplicate(at) => write!(f, "two members of one name in the object that ends at byte {at}"),
            Self::TooDeep(at) => write!(f, "nested deeper than {DEPTH_MAX} levels, at byte {at}"),
        }
    }
}

/// Reads a whole text.
pub(super) fn document(bytes: &[u8]) -> Result<Document<'_>, JsonError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| JsonError::NotUtf8)?;
    let capacity = bytes.len() / BYTES_PER_NODE + 1;
    let mut parser = Parser {
        text,
        bytes,
        at: 0,
        nodes: Vec::with_capacity(capacity),
        by_name: Vec::with_capacity(capacity),
        sorting: Vec::new(),
    };
    parser.skip_space();
    if parser.at == bytes.len() {
        return Err(JsonError::Empty);
    }
    parser.value(Cow::Borrowed(""), 1)?;
    parser.skip_space();
    if parser.at < bytes.len() {
        return Err(JsonError::Syntax(parser.at));
    }
    Ok(Document { text, nodes: parser.nodes, by_name: parser.by_name })
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    nodes: Vec<Node<'a>>,
    by_name: Vec<usize>,
    /// The members of the object that was just closed, while they are sorted: their names' first bytes and index.
    sorting: Vec<(u64, usize)>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.take(byte) { Ok(()) } else { Err(JsonError::Syntax(self.at)) }
    }

    fn value(&mut self, name: Cow<'a, str>, depth: usize) -> Result<(), JsonError> {
        let (start, index) = (self.at, self.nodes.len());
        self.nodes.push(Node { name, kind: Kind::Null, start, end: start, next: index + 1, members: (0, 0) });
        let kind = match self.peek() {
            Some(b'{') => self.object(index, depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Kind::Text(self.string()?),
            Some(b't') => self.word("true", Kind::Bool(true))?,
            Some(b'f') => self.word("false", Kind::Bool(false))?,
            Some(b'n') => self.word("null", Kind::Null)?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => return Err(JsonError::Syntax(self.at)),
        };
        let next = self.nodes.len();
        let node = &mut self.nodes[index];
        (node.kind, node.end, node.next) = (kind, self.at, next);
        Ok(())
    }

    fn word(&mut self, word: &str, kind: Kind<'a>) -> Result<Kind<'a>, JsonError> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(JsonError::Syntax(self.at));
        }
        self.at += word.len();
        Ok(kind)
    }

    fn number(&mut self) -> Result<Kind<'a>, JsonError> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(Kind::Number(&self.text[start..self.at]))
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(JsonError::Syntax(self.at)) } else { Ok(()) }
    }

    fn list(&mut self, depth: usize) -> Result<Kind<'a>, JsonError> {
        self.enter(depth)?;
        if self.take(b']') {
            return Ok(Kind::List);
        }
        loop {
            self.value(Cow::Borrowed(""), depth + 1)?;
            self.skip_space();
            if self.take(b']') {
                return Ok(Kind::List);
            }
            self.expect(b',')?;
            self.skip_space();
        }
    }

    fn object(&mut self, index: usize, depth: usize) -> Result<Kind<'a>, JsonError> {
        self.enter(depth)?;
        if self.take(b'}') {
            return Ok(Kind::Object);
        }
        loop {
            let name = self.string()?;
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            self.value(name, depth + 1)?;
            self.skip_space();
            if self.take(b'}') {
                return self.close(index).map(|()| Kind::Object);
            }
            self.expect(b',')?;
            self.skip_space();
        }
    }

    fn enter(&mut self, depth: usize) -> Result<(), JsonError> {
        if depth > DEPTH_MAX {
            return Err(JsonError::TooDeep(self.at));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    /// Sorts the members of the object at `index`, which reach to the last node. Equal names are neighbours then.
    fn close(&mut self, index: usize) -> Result<(), JsonError> {
        self.sorting.clear();
        let mut at = index + 1;
        while let Some(node) = self.nodes.get(at) {
            self.sorting.push((first_bytes(&node.name), at));
            at = node.next;
        }
        let nodes = &self.nodes;
        // The same order as that of the whole names, mostly without looking at them.
        self.sorting
            .sort_unstable_by(|(a, n), (b, m)| a.cmp(b).then_with(|| nodes[*n].name.cmp(&nodes[*m].name)));
        let equal =
            |pair: &[(u64, usize)]| pair[0].0 == pair[1].0 && nodes[pair[0].1].name == nodes[pair[1].1].name;
        if self.sorting.windows(2).any(equal) {
            return Err(JsonError::Duplicate(self.at));
        }
        let first = self.by_name.len();
        self.by_name.extend(self.sorting.iter().map(|(_, at)| *at));
        self.nodes[index].members = (first, self.by_name.len());
        Ok(())
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.expect(b'"')?;
        let start = self.at;
        let mut unescaped: Option<String> = None;
        let mut copied = start;
        loop {
            while self.peek().is_some_and(|byte| PLAIN[usize::from(byte)]) {
                self.at += 1;
            }
            match self.peek() {
                Some(b'"') => {
                    let rest = &self.text[copied..self.at];
                    self.at += 1;
                    return Ok(match unescaped {
                        None => Cow::Borrowed(rest),
                        Some(text) => Cow::Owned(text + rest),
                    });
                }
                Some(b'\\') => {
                    let text = unescaped.get_or_insert_with(String::new);
                    text.push_str(&self.text[copied..self.at]);
                    self.at += 1;
                    let escaped = self.escape()?;
                    text.push(escaped);
                    copied = self.at;
                }
                _ => return Err(JsonError::Syntax(self.at)),
            }
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<char, JsonError> {
        let at = self.at;
        self.at += 1;
        Ok(match self.bytes.get(at) {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(at),
            _ => return Err(JsonError::Syntax(at)),
        })
    }

    fn code_point(&mut self, at: usize) -> Result<char, JsonError> {
        let broken = JsonError::Syntax(at);
        let high = self.hex4().ok_or(broken)?;
        let code = if (0xd800..0xdc00).contains(&high) {
            if !(self.take(b'\\') && self.take(b'u')) {
                return Err(broken);
            }
            let low = self.hex4().filter(|low| (0xdc00..0xe000).contains(low)).ok_or(broken)?;
            0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)
        } else {
            high
        };
        // A low surrogate by itself is no character.
        char::from_u32(code).ok_or(broken)
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        let mut code = 0;
        for digit in digits {
            code = code * 16 + char::from(*digit).to_digit(16)?;
        }
        self.at += 4;
        Some(code)
    }
}

/// The first eight bytes as a number that orders as they do; shorter names are filled up with zeros.
fn first_bytes(name: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = name.len().min(8);
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}
