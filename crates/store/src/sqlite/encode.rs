//! Between the ledger's types and SQLite's columns, in both directions. No statements here.

use std::sync::Arc;

use paidonce_ledger::{
    Account, Digest, Ending, EventId, EventOutcome, FactId, FactKey, Hint, Mode, MoneyUnit, Name, Reason,
    ReferenceId, ReferenceKey, Subject, Timestamp,
};
use rusqlite::Row;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};

use crate::{Result, StoreError, StoreErrorKind};

/// One column's value on its way in.
pub(super) type Column<'a> = ToSqlOutput<'a>;

pub(super) fn text(text: &str) -> Column<'_> {
    ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))
}

pub(super) fn owned(text: impl Into<String>) -> Column<'static> {
    ToSqlOutput::Owned(Value::Text(text.into()))
}

pub(super) fn blob(bytes: &[u8]) -> Column<'_> {
    ToSqlOutput::Borrowed(ValueRef::Blob(bytes))
}

pub(super) fn int(n: i64) -> Column<'static> {
    ToSqlOutput::Owned(Value::Integer(n))
}

/// Revisions and counters: an i64 holds more of them than anybody lives to see.
pub(super) fn count(n: u64) -> Column<'static> {
    int(i64::try_from(n).unwrap_or(i64::MAX))
}

pub(super) fn time(at: Timestamp) -> Column<'static> {
    int(at.0)
}

pub(super) fn maybe<'a, T>(value: Option<T>, column: impl Fn(T) -> Column<'a>) -> Column<'a> {
    value.map_or(ToSqlOutput::Owned(Value::Null), column)
}

pub(super) fn json(value: &impl serde::Serialize) -> Result<Column<'static>> {
    serde_json::to_string(value).map(owned).map_err(|error| {
        StoreError::new(StoreErrorKind::Internal, "a row cannot be written as JSON").caused_by(error)
    })
}

pub(super) fn corrupt(what: impl Into<String>) -> StoreError {
    let what = what.into();
    StoreError::new(StoreErrorKind::Corrupt, format!("the database holds what paidonce never wrote: {what}"))
}

/// Reads columns by position.
pub(super) struct Reader<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(row: &'a Row<'a>) -> Self {
        Self { row, next: 0 }
    }

    fn value(&mut self) -> Result<ValueRef<'a>> {
        let value = self.row.get_ref(self.next).map_err(super::sql_error)?;
        self.next += 1;
        Ok(value)
    }

    pub(super) fn maybe_text(&mut self) -> Result<Option<&'a str>> {
        match self.value()? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).map(Some).map_err(|_| corrupt("text that is not UTF-8"))
            }
            _ => Err(corrupt("a column that is not text")),
        }
    }

    pub(super) fn text(&mut self) -> Result<&'a str> {
        self.maybe_text()?.ok_or_else(|| corrupt("a text column that is null"))
    }

    pub(super) fn maybe_int(&mut self) -> Result<Option<i64>> {
        match self.value()? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(n) => Ok(Some(n)),
            _ => Err(corrupt("a column that is no integer")),
        }
    }

    pub(super) fn int(&mut self) -> Result<i64> {
        self.maybe_int()?.ok_or_else(|| corrupt("an integer column that is null"))
    }

    pub(super) fn number<T: TryFrom<i64>>(&mut self) -> Result<T> {
        T::try_from(self.int()?).map_err(|_| corrupt("a number out of range"))
    }

    pub(super) fn maybe_blob(&mut self) -> Result<Option<&'a [u8]>> {
        match self.value()? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(bytes) => Ok(Some(bytes)),
            _ => Err(corrupt("a column that is no blob")),
        }
    }

    pub(super) fn blob(&mut self) -> Result<&'a [u8]> {
        self.maybe_blob()?.ok_or_else(|| corrupt("a blob column that is null"))
    }

    pub(super) fn time(&mut self) -> Result<Timestamp> {
        self.int().map(Timestamp)
    }

    pub(super) fn maybe_time(&mut self) -> Result<Option<Timestamp>> {
        Ok(self.maybe_int()?.map(Timestamp))
    }

    pub(super) fn digest(&mut self) -> Result<Digest> {
        self.blob()?.try_into().map(Digest).map_err(|_| corrupt("a digest that is not 32 bytes"))
    }

    pub(super) fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T> {
        serde_json::from_str(self.text()?).map_err(|error| corrupt("JSON").caused_by(error))
    }

    /// Shared text: a trace context, a person's name.
    pub(super) fn trace(&mut self) -> Result<Option<Arc<str>>> {
        Ok(self.maybe_text()?.map(Arc::from))
    }

    /// A text that one of the ledger's own parsers must take.
    pub(super) fn parse<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
        let text = self.text()?;
        parse(text).ok_or_else(|| corrupt(format!("{text:?}")))
    }

    pub(super) fn id<T: std::str::FromStr>(&mut self) -> Result<T> {
        self.parse(|text| text.parse().ok())
    }

    pub(super) fn maybe_id<T: std::str::FromStr>(&mut self) -> Result<Option<T>> {
        let Some(text) = self.maybe_text()? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| corrupt(format!("{text:?}")))
    }

    pub(super) fn amount(&mut self) -> Result<i128> {
        self.parse(|text| text.parse().ok())
    }

    pub(super) fn maybe_amount(&mut self) -> Result<Option<i128>> {
        self.maybe_id()
    }

    pub(super) fn account(&mut self) -> Result<Account> {
        self.parse(parse_account)
    }
}

/// Reads what an account's `Display` writes. The configuration allows no `/` in a provider's name.
pub(super) fn parse_account(text: &str) -> Option<Account> {
    let (provider, rest) = text.split_once('/')?;
    let (name, mode) = rest.rsplit_once('/')?;
    Some(Account {
        provider: Name::new(provider).ok()?,
        name: Name::new(name).ok()?,
        mode: Mode::parse(mode)?,
    })
}

/// What the account's `Display` writes, without the formatting machinery: it is written for every row.
pub(super) fn account_text(account: &Account) -> String {
    [account.provider.as_str(), account.name.as_str(), account.mode.as_str()].join("/")
}

/// (kind, account, id)
pub(super) fn reference_columns(key: &ReferenceKey) -> (&'static str, String, &str) {
    match key {
        ReferenceKey::Provider(account, id) => ("provider", account_text(account), id.as_str()),
        ReferenceKey::Issued(hint) => ("issued", String::new(), hint.as_str()),
        ReferenceKey::Own(hint) => ("own", String::new(), hint.as_str()),
    }
}

pub(super) fn parse_reference(kind: &str, account: &str, id: &str) -> Option<ReferenceKey> {
    Some(match kind {
        "provider" => ReferenceKey::Provider(parse_account(account)?, ReferenceId::new(id).ok()?),
        "issued" => ReferenceKey::Issued(Hint::new(id).ok()?),
        "own" => ReferenceKey::Own(Hint::new(id).ok()?),
        _ => return None,
    })
}

/// (kind, account, id)
pub(super) fn subject_columns(subject: &Subject) -> (&'static str, String, &str) {
    match subject {
        Subject::Event(key) => ("event", account_text(&key.account), key.id.as_str()),
        Subject::Payment(key) => ("payment", account_text(&key.account), key.id.as_str()),
        Subject::Order(id) => ("order", String::new(), id.as_str()),
    }
}

pub(super) fn parse_subject(kind: &str, account: &str, id: &str) -> Option<Subject> {
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
pub(super) fn fact_columns(key: &FactKey) -> (&'static str, &str, u8, String) {
    let unit = key.unit().map(ToString::to_string).unwrap_or_default();
    let (id, stage) = match key {
        FactKey::Captured { id, .. } | FactKey::Refunded { id, .. } => (id.as_str(), 0),
        FactKey::Disputed { id, stage, .. } => (id.as_str(), *stage),
        FactKey::AttemptFailed(event) => (event.as_str(), 0),
        _ => ("", 0),
    };
    (key.kind(), id, stage, unit)
}

pub(super) fn parse_fact(kind: &str, id: &str, stage: u8, unit: &str) -> Option<FactKey> {
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
        _ => return None,
    })
}

/// (outcome, detail)
pub(super) fn outcome_columns(outcome: &EventOutcome) -> (&'static str, Option<&str>) {
    let detail = match outcome {
        EventOutcome::Unreadable(why) => Some(why.as_str()),
        EventOutcome::Held(reason) => Some(reason.as_str()),
        EventOutcome::Applied | EventOutcome::Ignored => None,
    };
    (outcome.as_str(), detail)
}

pub(super) fn parse_outcome(outcome: &str, detail: Option<&str>) -> Option<EventOutcome> {
    Some(match outcome {
        "applied" => EventOutcome::Applied,
        "ignored" => EventOutcome::Ignored,
        "unreadable" => EventOutcome::Unreadable(detail?.to_owned()),
        "held" => EventOutcome::Held(Reason::parse(detail?)?),
        _ => return None,
    })
}
