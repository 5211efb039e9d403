//! `[recent]`, checked. An event that is listed has to be the same event, with the same content, as if it had been
//! delivered, or fetching what was missed would make conflicts of what was not.

use super::format::{Format, NextFormat, RecentFormat, TimeUnit};
use super::lookup::{Asking, addresses};
use super::mistake::{Mistake, Place};
use super::plan::{Condition, ContentRule, IdRule, KindRule, Plan, conditions, pointer};
use crate::pointer::Pointer;

/// How the events of late are listed.
#[derive(Debug)]
pub(crate) struct RecentRule {
    pub(crate) asking: Asking,
    pub(crate) items: Pointer,
    pub(crate) since: Option<(String, TimeUnit)>,
    pub(crate) next: Option<(String, Next)>,
    /// Empty: while a next page is named.
    pub(crate) more: Vec<Condition>,
}

/// Where the next page's name stands.
#[derive(Debug)]
pub(crate) enum Next {
    Member(Pointer),
    /// In the last item.
    Last(Pointer),
}

/// Checks `[recent]`.
pub(super) fn compile(format: &Format, events: &Plan) -> Result<Option<RecentRule>, Mistake> {
    let at = Place::of("recent");
    let Some(recent) = &format.recent else { return Ok(None) };
    addresses(&recent.url, &at.key("url"), false)?;
    if !matches!(events.id, IdRule::Member(_) | IdRule::Derived(..))
        || matches!(events.kind, KindRule::Header(_))
    {
        return Err(
            at.mistake("a listed event has no headers and other bytes: its id and type have to be members")
        );
    }
    if matches!(events.content, ContentRule::All) {
        return Err(
            at.mistake("state read.same_content: what a listed event has in common with a delivered one")
        );
    }
    Ok(Some(RecentRule {
        asking: Asking::compile(&recent.url, &recent.auth, &recent.headers, &at)?,
        items: pointer(&recent.items, &at.key("items"))?,
        since: since(recent, &at.key("since"))?,
        next: recent.next.as_ref().map(|next| next_page(next, &at.key("next"))).transpose()?,
        more: conditions(&recent.more, &at.key("more"))?,
    }))
}

fn since(recent: &RecentFormat, at: &Place) -> Result<Option<(String, TimeUnit)>, Mistake> {
    match &recent.since {
        Some(since) if since.parameter.is_empty() => Err(at.key("parameter").mistake("name the parameter")),
        since => Ok(since.as_ref().map(|since| (since.parameter.clone(), since.unit))),
    }
}

fn next_page(next: &NextFormat, at: &Place) -> Result<(String, Next), Mistake> {
    if next.parameter.is_empty() {
        return Err(at.key("parameter").mistake("name the parameter"));
    }
    let place = match (&next.member, &next.last) {
        (Some(member), None) => Next::Member(pointer(member, &at.key("member"))?),
        (None, Some(last)) => Next::Last(pointer(last, &at.key("last"))?),
        _ => return Err(at.mistake("write member (of the answer) or last (of its last item)")),
    };
    Ok((next.parameter.clone(), place))
}
