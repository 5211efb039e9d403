//! Between the ledger's types and the words that columns hold, in both directions. No driver, no statements.

use paidonce_ledger::{
    Account, Ending, EventId, EventOutcome, FactId, FactKey, Hint, Mode, MoneyUnit, Name, Reason,
    ReferenceId, ReferenceKey, Subject,
};

/// Reads what an account's `Display` writes. The configuration allows no `/` in a provider's name.
pub(crate) fn parse_account(text: &str) -> Option<Account> {
    let (provider, rest) = text.split_once('/')?;
    let (name, mode) = rest.rsplit_once('/')?;
    Some(Account {
        provider: Name::new(provider).ok()?,
        name: Name::new(name).ok()?,
        mode: Mode::parse(mode)?,
    })
}

/// What the account's `Display` writes, without the formatting machinery: it is written for every row.
pub(crate) fn account_text(account: &Account) -> String {
    [account.provider.as_str(), account.name.as_str(), account.mode.as_str()].join("/")
}

/// (kind, account, id)
pub(crate) fn reference_columns(key: &ReferenceKey) -> (&'static str, String, &str) {
    match key {
        ReferenceKey::Provider(account, id) => ("provider", account_text(account), id.as_str()),
        ReferenceKey::Issued(hint) => ("issued", String::new(), hint.as_str()),
        ReferenceKey::Own(hint) => ("own", String::new(), hint.as_str()),
    }
}

pub(crate) fn parse_reference(kind: &str, account: &str, id: &str) -> Option<ReferenceKey> {
    Some(match kind {
        "provider" => ReferenceKey::Provider(parse_account(account)?, ReferenceId::new(id).ok()?),
        "issued" => ReferenceKey::Issued(Hint::new(id).ok()?),
        "own" => ReferenceKey::Own(Hint::new(id).ok()?),
        _ => return None,
    })
}

/// (kind, account, id)
pub(crate) fn subject_columns(subject: &Subject) -> (&'static str, String, &str) {
    match subject {
        Subject::Event(key) => ("event", account_text(&key.account), key.id.as_str()),
        Subject::Payment(key) => ("payment", account_text(&key.account), key.id.as_str()),
        Subject::Order(id) => ("order", String::new(), id.as_str()),
    }
}

pub(crate) fn parse_subject(kind: &str, account: &str, id: &str) -> Option<Subject> {
    use paidonce_ledger::{EventKey, OrderId, PaymentId, PaymentKey};
    Some(match kind {
        "event" => Subject::Event(EventKey { account: parse_account(account)?, id: EventId::new(id).ok()? }),
        "payment" => {
            Subject::Payment(PaymentKey { account: parse_account(account)?, id: PaymentId::new(id).ok()? })
        }
        "order" => Subject::Order(OrderId::new(id).ok()?),
        _ => return None,
    })
}

/// (kind, fact id, stage, unit of money)
pub(crate) fn fact_columns(key: &FactKey) -> (&'static str, &str, u8, String) {
    let unit = key.unit().map(ToString::to_string).unwrap_or_default();
    let (id, stage) = match key {
        FactKey::Captured { id, .. } | FactKey::Refunded { id, .. } => (id.as_str(), 0),
        FactKey::Disputed { id, stage, .. } => (id.as_str(), *stage),
        FactKey::AttemptFailed(event) => (event.as_str(), 0),
        _ => ("", 0),
    };
    (key.kind(), id, stage, unit)
}

pub(crate) fn parse_fact(kind: &str, id: &str, stage: u8, unit: &str) -> Option<FactKey> {
    let unit = if unit.is_empty() { None } else { Some(MoneyUnit::parse(unit).ok()?) };
    let fact_id = || FactId::new(id).ok();
    Some(match kind {
        "pending" => FactKey::Pending(unit),
        "authorized" => FactKey::Authorized(unit),
        "captured" => FactKey::Captured { id: fact_id()?, unit },
        "attempt_failed" => FactKey::AttemptFailed(EventId::new(id).ok()?),
        "ended_failed" => FactKey::Ended(Ending::Failed),
        "ended_cancelled" => FactKey::Ended(Ending::Cancelled),
        "ended_expired" => FactKey::Ended(Ending::Expired),
        "refunded" => FactKey::Refunded { id: fact_id()?, unit },
        "disputed" => FactKey::Disputed { id: fact_id()?, stage, unit },
        "total_captured" => FactKey::TotalCaptured(unit),
        "total_refunded" => FactKey::TotalRefunded(unit),
        "announced" => FactKey::Announced,
        _ => return None,
    })
}

/// (outcome, detail)
pub(crate) fn outcome_columns(outcome: &EventOutcome) -> (&'static str, Option<&str>) {
    let detail = match outcome {
        EventOutcome::Unreadable(why) => Some(why.as_str()),
        EventOutcome::Held(reason) => Some(reason.as_str()),
        EventOutcome::Applied | EventOutcome::Ignored => None,
    };
    (outcome.as_str(), detail)
}

pub(crate) fn parse_outcome(outcome: &str, detail: Option<&str>) -> Option<EventOutcome> {
    Some(match outcome {
        "applied" => EventOutcome::Applied,
        "ignored" => EventOutcome::Ignored,
        "unreadable" => EventOutcome::Unreadable(detail?.to_owned()),
        "held" => EventOutcome::Held(Reason::parse(detail?)?),
        _ => return None,
    })
}
