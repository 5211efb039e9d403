//! `[lookup]`, checked: hosts are fixed here, so that nothing an event says can choose where a key is sent.

use std::collections::BTreeMap;

use super::format::{AuthFormat, ByMode, Format, LookupFormat, ReadFormat, Truth};
use super::mistake::{Mistake, Place};
use super::plan::{
    BodySyntax, Condition, ContentRule, IdRule, KindRule, Plan, conditions, mode_rule, money, pointer,
    pointers,
};
use super::table::{Around, FactShape, Meaning, compile as compile_table};
use crate::pointer::Pointer;

/// What may stand in an address: ids, percent-encoded.
pub(crate) const PLACEHOLDERS: [&str; 3] = ["{payment}", "{reference}", "{event}"];

/// Where a provider is asked, and how the program says who it is.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) url: ByMode,
    pub(crate) auth: AuthFormat,
    pub(crate) headers: Vec<(String, String)>,
}

/// How a payment is asked for and how the answer is read.
#[derive(Debug)]
pub(crate) struct LookupRule {
    pub(crate) asking: Asking,
    pub(crate) not_found: Vec<u16>,
    pub(crate) complete_when: Vec<Condition>,
    pub(crate) revision: Option<Pointer>,
    /// Reads the answer as events are read: its type is the status.
    pub(crate) plan: Plan,
}

impl Asking {
    /// Checks all but the address, which may have to be filled in.
    pub(super) fn compile(
        url: &ByMode,
        auth: &AuthFormat,
        headers: &BTreeMap<String, String>,
        at: &Place,
    ) -> Result<Self, Mistake> {
        if let AuthFormat::OAuth2(url) = auth {
            addresses(url, &at.key("auth").key("token_url"), false)?;
        }
        let own = match auth {
            AuthFormat::Header { name, .. } => Some(name.as_str()),
            _ => None,
        };
        for name in headers.keys().map(String::as_str).chain(own) {
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
                return Err(at.key("headers").mistake(format!("{name:?} is no header's name")));
            }
        }
        if let Some((name, _)) = headers.iter().find(|(_, value)| value.chars().any(char::is_control)) {
            return Err(at.key("headers").key(name).mistake("holds a control character"));
        }
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Ok(Self { url: url.clone(), auth: auth.clone(), headers })
    }
}

/// Checks `[lookup]`.
pub(super) fn compile(format: &Format) -> Result<Option<LookupRule>, Mistake> {
    let at = Place::of("lookup");
    let Some(lookup) = &format.lookup else { return Ok(None) };
    addresses(&lookup.url, &at.key("url"), true)?;
    if lookup.event.is_empty() {
        return Err(at.mistake("state [[lookup.event]]: what each status means"));
    }
    let revision = lookup.revision.as_deref().map(|text| pointer(text, &at.key("revision"))).transpose()?;
    Ok(Some(LookupRule {
        asking: Asking::compile(&lookup.url, &lookup.auth, &lookup.headers, &at)?,
        not_found: lookup.not_found.clone(),
        complete_when: conditions(&lookup.complete_when, &at.key("complete_when"))?,
        revision,
        plan: plan(format, lookup, &at)?,
    }))
}

fn plan(format: &Format, lookup: &LookupFormat, at: &Place) -> Result<Plan, Mistake> {
    let stated = lookup.money.as_ref().unwrap_or(&format.money);
    let money = money(stated)?;
    let read = ReadFormat {
        payment: Some(lookup.id.clone()),
        references: lookup.references.clone(),
        hints: lookup.hints.clone(),
        ..ReadFormat::default()
    };
    let around = Around { read: &read, money: stated, event: &lookup.event, at: at.key("event") };
    let table = compile_table(&around, &money)?;
    for row in table.values().flatten() {
        let Meaning::Claims { facts, .. } = &row.meaning else { continue };
        if facts.iter().any(|fact| matches!(fact.kind, FactShape::AttemptFailed)) {
            return Err(at.mistake("attempt_failed is an event's to say: a payment's state is no event"));
        }
    }
    Ok(Plan {
        truth: Truth::Event,
        id: IdRule::Member(pointers(Some(&lookup.id), &at.key("id"))?),
        kind: KindRule::Member(pointers(Some(&lookup.status), &at.key("status"))?),
        syntax: BodySyntax::Json,
        account: pointers(None, at)?,
        mode: lookup.mode.as_ref().map(|mode| mode_rule(mode, &at.key("mode"))).transpose()?,
        test: None,
        items: None,
        empty_items: false,
        test_when: Vec::new(),
        content: ContentRule::All,
        ignore_when: Vec::new(),
        money,
        table,
    })
}

pub(super) fn addresses(url: &ByMode, at: &Place, asks: bool) -> Result<(), Mistake> {
    for url in [&url.live, &url.test] {
        let Some((host, rest)) = url.strip_prefix("https://").and_then(|rest| rest.split_once('/')) else {
            return Err(at.mistake(format!("{url:?}: https://host/path")));
        };
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
        if !host.contains('.') || !host.bytes().all(plain) {
            return Err(at.mistake(format!("{host:?}: a fixed lower-case host name, without port or user")));
        }
        let fixed = PLACEHOLDERS.iter().fold(rest.to_owned(), |rest, name| rest.replace(name, ""));
        if fixed.contains(['{', '}', '#', '\\']) || fixed.chars().any(|c| c.is_control() || c == ' ') {
            return Err(at.mistake(format!("{url:?}: only {} are filled in", PLACEHOLDERS.join(", "))));
        }
        if asks == (fixed.len() == rest.len()) {
            return Err(at.mistake(if asks {
                "which payment? state {payment}"
            } else {
                "nothing is filled in here"
            }));
        }
    }
    Ok(())
}
