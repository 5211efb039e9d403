//! The rows of each table as columns, for every store that has tables: one function to write, one to read, in the
//! same order. Which statements carry them is the stores' own business.

mod column;
mod shape;
mod stock;
mod task;
mod trail;
mod word;

use paidonce_ledger::{
    Body, Case, CaseKey, Change, Changes, Entitlement, Event, EventKey, FactKey, FactValue, Fulfil, Money,
    MoneyUnit, Order, OrderId, OrderState, OrderStock, OrderToken, Payment, PaymentKey, Reason, Reference,
    ReferenceKey, Resolution, StockState, Unit,
};

pub(crate) use self::column::{
    Cells, Column, Kind, Reader, blob, corrupt, count, digest, int, json, maybe, owned, text, time,
};
use self::shape::in_tables;
pub(crate) use self::shape::{PerTable, Shape, Stored, load_all};
pub(crate) use self::task::key_columns;
pub(crate) use self::word::{account_text, reference_columns, subject_columns};
use self::word::{fact_columns, outcome_columns, parse_fact, parse_outcome, parse_reference, parse_subject};
use crate::Result;
use Kind::{Amount, Blob, Int, Text};

impl Stored for Event {
    type Key = EventKey;
    const SHAPE: Shape = Shape {
        table: "event",
        columns: &[
            ("account", Text),
            ("id", Text),
            ("source", Text),
            ("kind", Text),
            ("outcome", Text),
            ("detail", Text),
            ("payment", Text),
            ("content", Blob),
            ("digest", Blob),
            ("body", Blob),
            ("received_at", Int),
            ("duplicates", Int),
            ("last_at", Int),
            ("trace", Text),
            ("dropped_at", Int),
        ],
        keys: 2,
        // The last two of a body change once, by a statement of their own: [`dropped`].
        fixed: &["source", "digest", "received_at", "trace", "body", "dropped_at"],
    };

    in_tables!(events);

    fn write<'a>(key: &'a EventKey, row: &'a Self) -> Result<Vec<Column<'a>>> {
        let (outcome, detail) = outcome_columns(&row.outcome);
        Ok(vec![
            owned(account_text(&key.account)),
            text(key.id.as_str()),
            text(row.source.as_str()),
            text(&row.kind),
            text(outcome),
            maybe(detail, text),
            maybe(row.payment.as_ref(), |id| text(id.as_str())),
            blob(&row.content.0),
            digest(row.body.digest()),
            blob(row.body.bytes()),
            time(row.received_at),
            int(row.duplicates.into()),
            time(row.last_at),
            maybe(row.trace.as_deref(), text),
            maybe(row.dropped_at, time),
        ])
    }

    fn read(from: &mut Reader<'_>) -> Result<(EventKey, Self)> {
        let key = EventKey { account: from.account()?, id: from.id()? };
        let (source, kind) = (from.id()?, from.text()?.into());
        let (outcome, detail) = (from.text()?, from.maybe_text()?);
        let outcome = parse_outcome(&outcome, detail.as_deref())
            .ok_or_else(|| corrupt(format!("outcome {outcome:?}")))?;
        let (payment, content, sum) = (from.maybe_id()?, from.digest()?, from.digest()?);
        let body = Body::with_digest(from.blob()?, sum);
        let (received_at, duplicates, last_at, trace) =
            (from.time()?, from.number()?, from.time()?, from.trace()?);
        let dropped_at = from.maybe_time()?;
        let row = Self {
            source,
            kind,
            outcome,
            payment,
            content,
            body,
            dropped_at,
            received_at,
            duplicates,
            last_at,
            trace,
        };
        Ok((key, row))
    }
}

/// The stored events that lose their bytes by these changes: account, id, and when they were dropped.
pub(crate) fn dropped(changes: &Changes) -> Vec<Vec<Column<'_>>> {
    let lost = changes.events.iter().filter_map(|Change { key, before, after }| {
        let at = after.as_ref()?.dropped_at?;
        let had = before.as_ref()?.dropped_at.is_none();
        had.then(|| vec![owned(account_text(&key.account)), text(key.id.as_str()), time(at)])
    });
    lost.collect()
}

impl Stored for Payment {
    type Key = PaymentKey;
    const SHAPE: Shape = Shape {
        table: "payment",
        columns: &[
            ("account", Text),
            ("id", Text),
            ("order_id", Text),
            ("mentions", Text),
            ("first_at", Int),
            ("asked", Int),
            ("listing", Int),
            ("listed_at", Int),
            ("provider_revision", Int),
        ],
        keys: 2,
        fixed: &["first_at"],
    };

    in_tables!(payments);

    fn write<'a>(key: &'a PaymentKey, row: &'a Self) -> Result<Vec<Column<'a>>> {
        Ok(vec![
            owned(account_text(&key.account)),
            text(key.id.as_str()),
            maybe(row.order.as_ref(), |id| text(id.as_str())),
            json(&row.mentions)?,
            time(row.first_at),
            int(row.asked.into()),
            int(row.listing.into()),
            maybe(row.listed_at, time),
            maybe(row.provider_revision, count),
        ])
    }

    fn read(from: &mut Reader<'_>) -> Result<(PaymentKey, Self)> {
        let key = PaymentKey { account: from.account()?, id: from.id()? };
        let (order, mentions, first_at) = (from.maybe_id()?, from.json()?, from.time()?);
        let (asked, listing, listed_at) = (from.number()?, from.number()?, from.maybe_time()?);
        let revision = from.maybe_int()?.map(u64::try_from).transpose();
        let provider_revision = revision.map_err(|_| corrupt("a number out of range"))?;
        Ok((key, Self { order, mentions, first_at, asked, listing, listed_at, provider_revision }))
    }
}

impl Stored for FactValue {
    type Key = (PaymentKey, FactKey);
    const SHAPE: Shape = Shape {
        table: "fact",
        columns: &[
            ("account", Text),
            ("payment", Text),
            ("kind", Text),
            ("fact_id", Text),
            ("stage", Int),
            ("money_unit", Text),
            ("rank", Int),
            ("amount", Amount),
            ("asked", Int),
        ],
        keys: 6,
        fixed: &[],
    };

    in_tables!(facts);

    fn write<'a>((payment, fact): &'a (PaymentKey, FactKey), row: &'a Self) -> Result<Vec<Column<'a>>> {
        let (kind, id, stage, unit) = fact_columns(fact);
        Ok(vec![
            owned(account_text(&payment.account)),
            text(payment.id.as_str()),
            text(kind),
            text(id),
            int(stage.into()),
            owned(unit),
            int(row.rank.into()),
            maybe(row.amount_minor, |amount| owned(amount.to_string())),
            int(row.asked.into()),
        ])
    }

    fn read(from: &mut Reader<'_>) -> Result<(Self::Key, Self)> {
        let payment = PaymentKey { account: from.account()?, id: from.id()? };
        let (kind, id, stage, unit) = (from.text()?, from.text()?, from.number()?, from.text()?);
        let fact = parse_fact(&kind, &id, stage, &unit).ok_or_else(|| corrupt(format!("fact {kind:?}")))?;
        Ok((
            (payment, fact),
            Self { rank: from.number()?, amount_minor: from.maybe_amount()?, asked: from.number()? },
        ))
    }
}

impl Stored for Order {
    type Key = OrderId;
    const SHAPE: Shape = Shape {
        table: "orders",
        columns: &[
            ("id", Text),
            ("customer", Text),
            ("lines", Text),
            ("total", Amount),
            ("money_unit", Text),
            ("fulfil", Text),
            ("hint", Text),
            ("state", Text),
            ("closed_covering", Amount),
            ("placed_at", Int),
            ("expires_at", Int),
            ("request", Blob),
            ("token_secret", Text),
            ("token_mac", Blob),
            ("pieces", Text),
            ("stock", Text),
            ("revision", Int),
            ("payments", Text),
            ("refs", Text),
            ("trace", Text),
        ],
        keys: 1,
        fixed: &[
            "customer",
            "lines",
            "total",
            "money_unit",
            "fulfil",
            "hint",
            "placed_at",
            "request",
            "token_secret",
            "token_mac",
            "pieces",
            "trace",
        ],
    };

    in_tables!(orders);

    fn write<'a>(key: &'a OrderId, row: &'a Self) -> Result<Vec<Column<'a>>> {
        Ok(vec![
            text(key.as_str()),
            maybe(row.customer.as_ref(), |customer| text(customer.as_str())),
            json(&row.lines)?,
            owned(row.total.amount_minor().to_string()),
            owned(row.total.unit().to_string()),
            text(fulfil_text(row.fulfil)),
            text(row.hint.as_str()),
            text(row.state.as_str()),
            owned(row.closed_covering_minor.to_string()),
            time(row.placed_at),
            maybe(row.expires_at, time),
            blob(&row.request.0),
            maybe(row.token.as_ref(), |token| text(token.secret.as_str())),
            maybe(row.token.as_ref(), |token| digest(token.mac)),
            row.stock.as_ref().map_or(Ok(Column::Null), |stock| json(&stock.pieces))?,
            maybe(row.stock.as_ref(), |stock| text(stock.state.as_str())),
            count(row.revision),
            json(&row.payments)?,
            json(&row.references)?,
            maybe(row.trace.as_deref(), text),
        ])
    }

    fn read(from: &mut Reader<'_>) -> Result<(OrderId, Self)> {
        let id = from.id()?;
        let (customer, lines) = (from.maybe_id()?, from.json()?);
        let total = money(from.amount()?, &from.text()?)?;
        let fulfil = from.parse(parse_fulfil)?;
        let (hint, state) = (from.id()?, from.parse(OrderState::parse)?);
        let closed_covering_minor = from.amount()?;
        let (placed_at, expires_at, request) = (from.time()?, from.maybe_time()?, from.digest()?);
        let token = match (from.maybe_id()?, from.maybe_digest()?) {
            (Some(secret), Some(mac)) => Some(OrderToken { secret, mac }),
            _ => None,
        };
        let stock = match (from.maybe_json()?, from.maybe_text()?.as_deref().and_then(StockState::parse)) {
            (Some(pieces), Some(state)) => Some(OrderStock { pieces, state }),
            (None, None) => None,
            _ => return Err(corrupt("an order's stock")),
        };
        let (revision, payments, references) = (from.number()?, from.json()?, from.json()?);
        let trace = from.trace()?;
        let order = Self {
            customer,
            lines,
            total,
            fulfil,
            hint,
            state,
            closed_covering_minor,
            placed_at,
            expires_at,
            request,
            token,
            stock,
            revision,
            payments,
            references,
            trace,
        };
        Ok((id, order))
    }
}

fn money(amount: i128, unit: &str) -> Result<Money> {
    MoneyUnit::parse(unit)
        .and_then(|unit| Money::new(amount, unit))
        .map_err(|error| corrupt("an amount").caused_by(error))
}

fn fulfil_text(fulfil: Fulfil) -> &'static str {
    match fulfil {
        Fulfil::Order => "order",
        Fulfil::Line => "line",
    }
}

fn parse_fulfil(text: &str) -> Option<Fulfil> {
    [Fulfil::Order, Fulfil::Line].into_iter().find(|fulfil| fulfil_text(*fulfil) == text)
}

impl Stored for Reference {
    type Key = ReferenceKey;
    const SHAPE: Shape = Shape {
        table: "reference",
        columns: &[
            ("kind", Text),
            ("account", Text),
            ("id", Text),
            ("order_id", Text),
            ("expected", Amount),
            ("money_unit", Text),
            ("payments", Text),
        ],
        keys: 3,
        fixed: &[],
    };

    in_tables!(references);

    fn write<'a>(key: &'a ReferenceKey, row: &'a Self) -> Result<Vec<Column<'a>>> {
        let (kind, account, id) = reference_columns(key);
        Ok(vec![
            text(kind),
            owned(account),
            text(id),
            maybe(row.order.as_ref(), |id| text(id.as_str())),
            maybe(row.expected.as_ref(), |money| owned(money.amount_minor().to_string())),
            maybe(row.expected.as_ref(), |money| owned(money.unit().to_string())),
            json(&row.payments)?,
        ])
    }

    fn read(from: &mut Reader<'_>) -> Result<(ReferenceKey, Self)> {
        let (kind, account, id) = (from.text()?, from.text()?, from.text()?);
        let key =
            parse_reference(&kind, &account, &id).ok_or_else(|| corrupt(format!("reference {kind:?}")))?;
        let order = from.maybe_id()?;
        let expected = match (from.maybe_amount()?, from.maybe_text()?) {
            (Some(amount), Some(unit)) => Some(money(amount, &unit)?),
            _ => None,
        };
        Ok((key, Self { order, expected, payments: from.json()? }))
    }
}

impl Stored for Entitlement {
    type Key = (OrderId, Unit);
    const SHAPE: Shape = Shape {
        table: "entitlement",
        columns: &[
            ("order_id", Text),
            ("unit", Text),
            ("customer", Text),
            ("lines", Text),
            ("granted_at", Int),
            ("order_revision", Int),
            ("revoked_at", Int),
            ("revoked_by", Text),
            ("kept_by", Text),
        ],
        keys: 2,
        fixed: &["customer", "lines", "granted_at"],
    };

    in_tables!(entitlements);

    fn write<'a>((order, unit): &'a (OrderId, Unit), row: &'a Self) -> Result<Vec<Column<'a>>> {
        Ok(vec![
            text(order.as_str()),
            owned(unit.to_string()),
            maybe(row.customer.as_ref(), |customer| text(customer.as_str())),
            json(&row.lines)?,
            time(row.granted_at),
            count(row.order_revision),
            maybe(row.revoked_at, time),
            maybe(row.revoked_by.as_deref(), text),
            maybe(row.kept_by.as_deref(), text),
        ])
    }

    fn read(from: &mut Reader<'_>) -> Result<(Self::Key, Self)> {
        let key = (from.id()?, from.parse(Unit::parse)?);
        let (customer, lines, granted_at) = (from.maybe_id()?, from.json()?, from.time()?);
        let (order_revision, revoked_at) = (from.number()?, from.maybe_time()?);
        let (revoked_by, kept_by) = (from.trace()?, from.trace()?);
        Ok((key, Self { customer, lines, granted_at, order_revision, revoked_at, revoked_by, kept_by }))
    }
}

impl Stored for Case {
    type Key = CaseKey;
    const SHAPE: Shape = Shape {
        table: "cases",
        columns: &[
            ("subject_kind", Text),
            ("subject_account", Text),
            ("subject_id", Text),
            ("reason", Text),
            ("evidence", Blob),
            ("handle", Text),
            ("opened_at", Int),
            ("detail", Text),
            ("order_id", Text),
            ("digest", Blob),
            ("body", Blob),
            ("resolved_at", Int),
            ("resolved_by", Text),
            ("resolution", Text),
        ],
        keys: 5,
        fixed: &["handle", "opened_at", "detail", "digest", "body"],
    };

    in_tables!(cases);

    fn write<'a>(key: &'a CaseKey, row: &'a Self) -> Result<Vec<Column<'a>>> {
        let (kind, account, id) = subject_columns(&key.subject);
        let resolution = row.resolution.as_ref();
        Ok(vec![
            text(kind),
            owned(account),
            text(id),
            text(key.reason.as_str()),
            blob(&key.evidence.0),
            owned(key.handle()),
            time(row.opened_at),
            text(&row.detail),
            maybe(row.order.as_ref(), |id| text(id.as_str())),
            maybe(row.body.as_ref(), |body| digest(body.digest())),
            maybe(row.body.as_ref(), |body| blob(body.bytes())),
            maybe(resolution, |resolution| time(resolution.at)),
            maybe(resolution.and_then(|resolution| resolution.by.as_deref()), text),
            maybe(resolution, |resolution| text(&resolution.note)),
        ])
    }

    fn read(from: &mut Reader<'_>) -> Result<(CaseKey, Self)> {
        let (kind, account, id) = (from.text()?, from.text()?, from.text()?);
        let subject =
            parse_subject(&kind, &account, &id).ok_or_else(|| corrupt(format!("subject {kind:?}")))?;
        let key = CaseKey { subject, reason: from.parse(Reason::parse)?, evidence: from.digest()? };
        let (_handle, opened_at, detail) = (from.text()?, from.time()?, from.text()?.into_owned());
        let order = from.maybe_id()?;
        let body = match (from.maybe_digest()?, from.maybe_blob()?) {
            (Some(sum), Some(bytes)) => Some(Body::with_digest(bytes, sum)),
            _ => None,
        };
        let (at, by, note) = (from.maybe_time()?, from.trace()?, from.maybe_text()?);
        let resolution = at.map(|at| Resolution { at, by, note: note.unwrap_or_default().into_owned() });
        Ok((key, Self { opened_at, detail, order, body, resolution }))
    }
}
