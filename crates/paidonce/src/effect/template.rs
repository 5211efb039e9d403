//! Templates of messages: parsed and tried when the program starts, not at the first message.
//!
//! What is not there is an error that names the template and the line, never an empty space in a customer's mail.
//! They cannot include each other, read files or do anything but write text.

use std::path::Path;

use minijinja::value::{Serde, Value};
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, escape_formatter,
};
use paidonce_ledger::Happening;

use super::sample::samples;
use super::telling::Telling;

/// The most bytes a template may have: more is some other file.
const TEMPLATE_BYTES_MAX: u64 = 256 * 1024;

/// What is written, and what must be done so that a value stays a value in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// Plain text: nothing is escaped.
    Text,
    /// HTML: every value is escaped, unless the template itself says that it is safe.
    Html,
}

/// A template that was parsed.
#[derive(Debug, Clone)]
pub struct Template {
    name: String,
    environment: Environment<'static>,
}

impl Template {
    /// Parses a template. `name` is how its mistakes are told.
    ///
    /// # Errors
    /// `name:line: what is wrong`.
    pub fn parse(name: &str, source: String, writes: Writes) -> Result<Self, String> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_formatter(no_null);
        environment.set_auto_escape_callback(move |_| match writes {
            Writes::Text => AutoEscape::None,
            Writes::Html => AutoEscape::Html,
        });
        let name = name.to_owned();
        environment.add_template_owned(name.clone(), source).map_err(|error| told(&name, &error))?;
        Ok(Self { name, environment })
    }

    /// Reads and parses a template's file.
    ///
    /// # Errors
    /// It cannot be read, or as [`Template::parse`].
    pub fn load(file: &Path, writes: Writes) -> Result<Self, String> {
        let name = file.display().to_string();
        let unread = |error: std::io::Error| format!("{name}: cannot be read: {error}");
        if std::fs::metadata(file).map_err(unread)?.len() > TEMPLATE_BYTES_MAX {
            return Err(format!("{name}: it is larger than {TEMPLATE_BYTES_MAX} bytes"));
        }
        Self::parse(&name, std::fs::read_to_string(file).map_err(unread)?, writes)
    }

    /// Renders it.
    ///
    /// # Errors
    /// `name:line: what is wrong`: something that it names is not there.
    pub fn render(&self, telling: &Telling) -> Result<String, String> {
        let rendered =
            self.environment.get_template(&self.name).and_then(|template| template.render(Serde(telling)));
        rendered.map_err(|error| told(&self.name, &error))
    }

    /// Renders it for everything that it will be used for.
    ///
    /// # Errors
    /// As [`Template::render`], with what it was tried for.
    pub fn try_for(&self, all: impl IntoIterator<Item = Option<Happening>>) -> Result<(), String> {
        for telling in all.into_iter().flat_map(samples) {
            let order = if telling.order.is_none() { " without an order" } else { "" };
            let tried = |error| format!("{error} (tried for {}{order})", telling.happening);
            self.render(&telling).map_err(tried)?;
        }
        Ok(())
    }
}

/// A null is not there either: "none" is no word for a customer.
fn no_null(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    if value.is_none() {
        let detail = "this is null: write {% if … %} around it, or |default(…, true) after it";
        return Err(Error::new(ErrorKind::UndefinedError, detail));
    }
    escape_formatter(out, state, value)
}

/// `name:line: what is wrong`, without the values that were at hand.
fn told(name: &str, error: &Error) -> String {
    let line = error.line().map_or(String::new(), |line| format!(":{line}"));
    let detail = error.detail().map_or(String::new(), |detail| format!(": {detail}"));
    format!("{name}{line}: {}{detail}", error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told_of(source: &str, happening: Happening) -> String {
        let template = Template::parse("paid.txt", source.to_owned(), Writes::Text);
        match template.and_then(|template| template.try_for([Some(happening)])) {
            Ok(()) => "fine".to_owned(),
            Err(error) => error,
        }
    }

    #[test]
    fn a_mistake_is_told_before_the_first_message_with_the_template_and_the_line() {
        for (source, happening, expected) in [
            ("{{ order.id }}", Happening::OrderPaid, "fine"),
            ("{% if case %}{{ case.detail }}{% else %}paid{% endif %}", Happening::OrderPaid, "fine"),
            ("a\n{{ order.custmer }}", Happening::OrderPaid, "paid.txt:2: undefined value"),
            ("a\n\n{{ nothing }}", Happening::OrderPaid, "paid.txt:3: undefined value"),
            ("{% for item in items %}{% endfor %}", Happening::OrderPaid, "paid.txt:1: undefined value"),
            ("{{ case.detail }}", Happening::OrderPaid, "paid.txt:1: undefined value"),
            ("{{ case }}", Happening::OrderPaid, "paid.txt:1: undefined value: this is null"),
            ("{{ order.id }}", Happening::CaseOpened, "(tried for case_opened without an order)"),
            ("{{ entitlement.granted_at }}", Happening::EntitlementGranted, "fine"),
            ("{{ entitlement.granted_at }}", Happening::OrderPaid, "paid.txt:1: undefined value"),
            ("a\n{% if %}", Happening::OrderPaid, "paid.txt:2: syntax error"),
            ("{% include 'other' %}", Happening::OrderPaid, "paid.txt:1: syntax error"),
            ("{{ order.id | nofilter }}", Happening::OrderPaid, "paid.txt:1: unknown filter"),
        ] {
            let said = told_of(source, happening);
            let right = if expected == "fine" { said == "fine" } else { said.contains(expected) };
            assert!(right, "{source:?} for {happening}: {said}");
        }
    }

    #[test]
    fn values_are_escaped_in_html_and_left_alone_in_text() {
        let [mut telling] = <[Telling; 1]>::try_from(samples(Some(Happening::OrderPaid))).unwrap();
        telling.order.as_mut().unwrap().id = "<b>\"&'".to_owned();
        let render = |writes| {
            let template = Template::parse("t", "<p>{{ order.id }}</p>".to_owned(), writes);
            template.unwrap().render(&telling).unwrap()
        };
        assert_eq!(render(Writes::Text), "<p><b>\"&'</p>");
        assert_eq!(render(Writes::Html), "<p>&lt;b&gt;&quot;&amp;&#x27;</p>");
    }

    #[test]
    fn money_items_and_defaults_are_written_as_people_expect() {
        let source = "{{ order.total.amount }} {{ order.total.unit }}:\
            {% for item in order.items %} {{ item.quantity }} x {{ item.sku }}{% endfor %}\
            {{ entitlement.revoked_at | default(' never', true) if entitlement else ' not yet' }}";
        let template = Template::parse("t", source.to_owned(), Writes::Text).unwrap();
        let render = |happening| template.render(&samples(Some(happening))[0]).unwrap();
        assert_eq!(render(Happening::OrderPaid), "19.90 EUR: 1 x ebook-1 not yet");
        assert_eq!(render(Happening::EntitlementGranted), "19.90 EUR: 1 x ebook-1 never");
    }

    #[test]
    fn a_template_that_is_not_there_is_named() {
        let said = Template::load(Path::new("no/such.txt"), Writes::Text).unwrap_err();
        assert!(said.starts_with("no/such.txt: cannot be read"), "{said}");
    }
}
