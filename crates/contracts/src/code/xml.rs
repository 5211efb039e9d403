//! XML as JSON text, for contracts' paths: elements are members, repeated ones a list, text is text.
//!
//! No DTD, no entity but the five of XML and characters by number, no processing instruction, no name space, no
//! attribute (but `type="array"`, an element that is a list even when it has one item or none, and `nil="true"`).
//! Depth and size are capped. It is no general XML library and never writes XML.

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// The largest text that is read. Notifications stay below 20 KB.
const BYTES_MAX: usize = 1 << 20;

/// The deepest nesting: two less than the JSON reader's, which walks what is made here.
const DEPTH_MAX: usize = crate::json::DEPTH_MAX - 2;

/// The most elements of one text.
const ELEMENTS_MAX: usize = 20_000;

/// An element that is being read.
struct Element {
    name: String,
    array: bool,
    nil: bool,
    text: String,
    /// Members by name, in the order in which the names came first.
    children: Vec<(String, Vec<String>)>,
}

impl Element {
    fn named(name: String) -> Self {
        Self { name, array: false, nil: false, text: String::new(), children: Vec::new() }
    }

    fn push(&mut self, name: String, json: String) {
        match self.children.iter_mut().find(|(have, _)| *have == name) {
            Some((_, values)) => values.push(json),
            None => self.children.push((name, vec![json])),
        }
    }

    /// Its JSON. Text between elements is white space by then, or the whole is refused.
    fn json(self) -> Result<String, &'static str> {
        let blank = self.text.bytes().all(|byte| byte.is_ascii_whitespace());
        if !self.children.is_empty() && !blank {
            return Err("XML with text between elements");
        }
        if self.array {
            if !blank {
                return Err("XML with text in an array");
            }
            let items: Vec<String> = self.children.into_iter().flat_map(|(_, values)| values).collect();
            return Ok(format!("[{}]", items.join(",")));
        }
        if self.nil {
            return Ok("null".to_owned());
        }
        if self.children.is_empty() {
            return Ok(quoted(&self.text));
        }
        let members = self.children.into_iter().map(|(name, mut values)| {
            let value = if values.len() == 1 { values.remove(0) } else { format!("[{}]", values.join(",")) };
            format!("{}:{value}", quoted(&name))
        });
        Ok(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
    }
}

/// `{"<root>": ...}`.
///
/// # Errors
/// What is not read, in words without the text itself.
pub(super) fn json(bytes: &[u8]) -> Result<Vec<u8>, &'static str> {
    if bytes.len() > BYTES_MAX {
        return Err("XML that is too large");
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "XML that is not UTF-8")?;
    let mut reader = Reader::from_str(text.trim_start());
    let mut open = vec![Element::named(String::new())];
    let mut elements = 0;
    loop {
        let event = reader.read_event().map_err(|_| "not well-formed XML")?;
        match event {
            Event::Start(start) => open.push(element(&start, open.len(), &mut elements)?),
            Event::Empty(start) => {
                let one = element(&start, open.len(), &mut elements)?;
                close(one, &mut open)?;
            }
            Event::End(_) => {
                let one = open.pop().ok_or("not well-formed XML")?;
                close(one, &mut open)?;
            }
            Event::Text(text) => append(&mut open, &text),
            Event::GeneralRef(reference) => {
                let one = match reference.resolve_char_ref().map_err(|_| "XML with a bad reference")? {
                    Some(character) if permitted(character) => character,
                    Some(_) => return Err("XML with a character that it may not hold"),
                    None => named(&reference)?,
                };
                append(&mut open, one.encode_utf8(&mut [0; 4]));
            }
            Event::CData(data) => append(&mut open, &data),
            Event::Comment(_) | Event::Decl(_) => {}
            Event::PI(_) => return Err("XML with a processing instruction"),
            Event::DocType(_) => return Err("XML with a document type"),
            Event::Eof => break,
        }
    }
    let [root] = &mut open[..] else { return Err("XML that ends inside an element") };
    if root.children.len() != 1 || root.children[0].1.len() != 1 {
        return Err("XML without exactly one outermost element");
    }
    let root = open.pop().ok_or("not well-formed XML")?;
    root.json().map(String::into_bytes)
}

fn append(open: &mut [Element], text: &str) {
    if let Some(last) = open.last_mut() {
        last.text.push_str(text);
    }
}

fn close(one: Element, open: &mut [Element]) -> Result<(), &'static str> {
    let name = one.name.clone();
    let json = one.json()?;
    open.last_mut().ok_or("not well-formed XML")?.push(name, json);
    Ok(())
}

fn element(start: &BytesStart<'_>, depth: usize, elements: &mut usize) -> Result<Element, &'static str> {
    *elements += 1;
    if *elements > ELEMENTS_MAX {
        return Err("XML with more elements than are read");
    }
    if depth > DEPTH_MAX {
        return Err("XML that is nested too deeply");
    }
    let mut one = Element::named(start.name().into_inner().to_owned());
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|_| "not well-formed XML")?;
        match (attribute.key.into_inner(), &*attribute.value) {
            ("type", "array" | "collection") => one.array = true,
            ("nil", "true") => one.nil = true,
            _ => {}
        }
    }
    Ok(one)
}

/// The entities that need no declaration.
fn named(reference: &str) -> Result<char, &'static str> {
    match reference {
        "amp" => Ok('&'),
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "quot" => Ok('"'),
        "apos" => Ok('\''),
        _ => Err("XML with an entity"),
    }
}

/// Whether XML 1.0 permits it.
fn permitted(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

fn quoted(text: &str) -> String {
    let mut to = String::with_capacity(text.len() + 2);
    super::canonical::quote(text, &mut to);
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, &'static str> {
        json(text.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn elements_are_members() {
        let text =
            "<n><k>a&amp;b&#x21;</k><x nil=\"true\"/><l type=\"array\"><i>1</i></l><r>1</r><r>2</r><e/></n>";
        let expect = r#"{"n":{"k":"a&b!","x":null,"l":["1"],"r":["1","2"],"e":""}}"#;
        assert_eq!(read(text).unwrap(), expect);
    }

    #[test]
    fn what_could_expand_reach_out_or_be_ambiguous_is_refused() {
        let deep = format!("{}{}", "<a>".repeat(200), "</a>".repeat(200));
        for text in [
            "<!DOCTYPE n [<!ENTITY e 'x'>]><n>&e;</n>",
            "<n>&e;</n>",
            "<?php x?><n/>",
            "<n>a<b/>c</n>",
            "<n/><n/>",
            "<n><m></n></m>",
            "<n>",
            "",
            "text",
            "<n>&#0;</n>",
            &deep,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
