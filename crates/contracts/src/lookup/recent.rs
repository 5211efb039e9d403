//! Asking a provider for the events of late: one request a page, and the notices that a page is.

use paidonce_ledger::{Mode, Notice};
use percent_encoding::utf8_percent_encode;

use super::LookupRefused;
use super::answer::{parsed, succeeded};
use super::request::{RESERVED, Request, of};
use crate::contract::Contract;
use crate::contract::format::TimeUnit;
use crate::contract::plan::Plan;
use crate::contract::recent::{Next, RecentRule};
use crate::json::Kind;
use crate::pointer::Scope;
use crate::read::{ITEMS_MAX, Received, holds_all, notice, scalar};
use crate::secret::Secret;

/// How one contract's events of late are listed.
#[derive(Debug, Clone, Copy)]
pub struct Recent<'c> {
    rule: &'c RecentRule,
    plan: &'c Plan,
}

/// One page of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Each as if it had been delivered; the provider's own order.
    pub events: Vec<Notice>,
    /// What [`Recent::request`] takes for the page after it, if there is one.
    pub next: Option<String>,
}

impl Contract {
    /// How its events of late are listed, where the contract says it.
    #[must_use]
    pub fn recent(&self) -> Option<Recent<'_>> {
        self.recent_rule().map(|rule| Recent { rule, plan: self.plan() })
    }
}

impl Recent<'_> {
    /// The request for a page. `next` is from the page before. With a contract that cannot say "since", the caller stops
    /// at what it knows.
    ///
    /// # Errors
    /// The key has not the form that is needed.
    pub fn request(
        &self,
        since_unix_s: i64,
        next: Option<&str>,
        mode: Mode,
        key: &Secret,
    ) -> Result<Request, LookupRefused> {
        let mut url = of(&self.rule.asking.url, mode).to_owned();
        let mut add = |name: &str, value: &str| {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.extend(utf8_percent_encode(name, RESERVED));
            url.push('=');
            url.extend(utf8_percent_encode(value, RESERVED));
        };
        if let Some((parameter, unit)) = &self.rule.since {
            add(parameter, &written(since_unix_s, *unit));
        }
        if let (Some((parameter, _)), Some(next)) = (&self.rule.next, next) {
            add(parameter, next);
        }
        Ok(Request { method: "GET", url, headers: self.rule.asking.headers(key)?, body: "" })
    }

    /// Reads a page.
    ///
    /// # Errors
    /// It is none; whether trying again may help is [`LookupRefused::retryable`].
    pub fn read(&self, status: u16, body: &[u8]) -> Result<Page, LookupRefused> {
        succeeded(status)?;
        let document = parsed(body)?;
        let scope = Scope { event: document.root(), item: None };
        let unreadable =
            |problem: &str| LookupRefused::Unreadable(format!("{}: {problem}", self.rule.items.text()));
        let list = self.rule.items.find(scope).ok_or_else(|| unreadable("absent"))?;
        if *list.kind() != Kind::List {
            return Err(unreadable("not a list"));
        }
        if list.children().count() > ITEMS_MAX {
            return Err(unreadable("a list with more items than are read"));
        }
        let received = Received { headers: &[], at_unix_s: 0 };
        let events = list.children().map(|item| notice(self.plan, item, item.raw(), received)).collect();
        let further = self.rule.more.is_empty() || holds_all(&self.rule.more, scope);
        let next = match &self.rule.next {
            Some((_, Next::Member(member))) => member.find(scope),
            Some((_, Next::Last(last))) => {
                list.children().last().and_then(|item| last.find(Scope { event: item, item: None }))
            }
            None => None,
        };
        let next = next.filter(|_| further).and_then(scalar::plain_text).map(str::to_owned);
        Ok(Page { events, next })
    }
}

/// A moment as a query says it.
fn written(unix_s: i64, unit: TimeUnit) -> String {
    match unit {
        TimeUnit::S => unix_s.to_string(),
        TimeUnit::Ms => unix_s.saturating_mul(1_000).to_string(),
        TimeUnit::Rfc3339 => crate::verify::rfc3339_text(unix_s),
    }
}
