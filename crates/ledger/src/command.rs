//! Everything that changes anything. Each command says which aggregates it will look at first.

mod operator;
mod outbox;
mod product;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::digest::Digest;
use crate::id::{
    Account, CommandId, Customer, EventKey, Hint, KeyName, OrderId, PaymentKey, ReferenceId, ReferenceKey,
    SourceName,
};
use crate::key::{Key, Keys};
use crate::ledger::Row;
use crate::money::Money;
use crate::notice::{Notice, Reading};
use crate::order::{Fulfil, Line, OrderToken};
use crate::row::Scope;
use crate::task::TaskKey;
use crate::time::Timestamp;

pub use operator::{
    AskLookup, CancelTask, Decision, MarkOutside, Observe, Outside, Reprocess, ResolveCase, ReviveOrder,
    SetEntitlement,
};
pub use outbox::{Claim, GrantFailed, Outcome, Prepare, Renew, Settle};
pub use product::SetProduct;

/// Who sends a command, under which id, and why.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Its second execution is answered like its first.
    pub id: CommandId,
    /// The key's or the user's name.
    pub by: Arc<str>,
    /// The reason, where one was given.
    pub reason: Option<Arc<str>>,
}

/// A reference to register for an order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NewReference {
    /// The namespace of `id`.
    pub account: Account,
    /// The provider's object.
    pub id: ReferenceId,
    /// What is expected of it, if that is less than the order's total.
    pub expected: Option<Money>,
}

/// Place an order. Without a record of its command, the order itself is the trace: same id and same content is
/// the same order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlaceOrder {
    /// Who, under which id.
    pub stamp: Stamp,
    /// The merchant's id, or one that was generated for it.
    pub order: OrderId,
    /// Whether the id was generated: unguessable, so that it is an issued hint as well.
    pub generated: bool,
    /// The unguessable text for the provider's metadata. Kept only if the order is new.
    pub hint: Hint,
    /// Who gets it.
    pub customer: Option<Customer>,
    /// What is sold.
    pub lines: Vec<Line>,
    /// What must be paid.
    pub total: Money,
    /// How it is cut into units.
    pub fulfil: Fulfil,
    /// When it may be closed unpaid.
    pub expires_at: Option<Timestamp>,
    /// Provider objects that were already made for it.
    pub references: Vec<NewReference>,
    /// What to keep of the buyer's token. It follows from the stamp's key, so that it is no part of what is asked.
    pub token: Option<OrderToken>,
    /// Trace context.
    pub trace: Option<Arc<str>>,
}

/// Register a provider's object for an order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RegisterReference {
    /// Who, under which id.
    pub stamp: Stamp,
    /// For which order.
    pub order: OrderId,
    /// What.
    pub reference: NewReference,
}

/// Call an order off.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CancelOrder {
    /// Who, under which id, why.
    pub stamp: Stamp,
    /// Which order.
    pub order: OrderId,
    /// Only while no money has come and none is on its way: all that a buyer may do.
    pub unpaid: bool,
}

/// Take in the events of one verified delivery. Each is decided alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Receive {
    /// The source it came to.
    pub source: SourceName,
    /// That source's account: the namespace of all ids in it.
    pub account: Account,
    /// The events.
    pub notices: Vec<Notice>,
    /// Trace context.
    pub trace: Option<Arc<str>>,
}

/// Put a task back to work.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RetryTask {
    /// Who, under which id, why.
    pub stamp: Stamp,
    /// Which task.
    pub task: TaskKey,
}

/// Make an API key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AddKey {
    /// Who, under which id.
    pub stamp: Stamp,
    /// Its name.
    pub name: KeyName,
    /// SHA-256 of its text.
    pub digest: Digest,
    /// What it may do.
    pub scope: Scope,
}

/// Stop an API key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RevokeKey {
    /// Who, under which id, why.
    pub stamp: Stamp,
    /// Its name.
    pub name: KeyName,
}

/// Put rows of another store's ledger here, as they are: a whole ledger moves, row by row. The rows are their own
/// trace: one that is there already is passed over, one that is there and differs refuses the command.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Import {
    /// The rows.
    pub rows: Vec<Row>,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Command {
    /// Place an order.
    PlaceOrder(PlaceOrder),
    /// Register a reference.
    RegisterReference(RegisterReference),
    /// Cancel an order.
    CancelOrder(CancelOrder),
    /// Receive a delivery.
    Receive(Receive),
    /// Write one unit's entitlement, if the order is still eligible.
    Grant(TaskKey),
    /// Record a grant that the merchant's own statements refused.
    GrantFailed(GrantFailed),
    /// Retry a task.
    RetryTask(RetryTask),
    /// Set a product.
    SetProduct(SetProduct),
    /// Add an API key.
    AddKey(AddKey),
    /// Revoke an API key.
    RevokeKey(RevokeKey),
    /// Number a lookup.
    AskLookup(AskLookup),
    /// Take in a lookup's answer.
    Observe(Observe),
    /// Decide about a case.
    ResolveCase(ResolveCase),
    /// Stop a task.
    CancelTask(CancelTask),
    /// Take back or give back an entitlement.
    SetEntitlement(SetEntitlement),
    /// Note money that moved outside.
    MarkOutside(MarkOutside),
    /// Open a closed order again.
    ReviveOrder(ReviveOrder),
    /// Read a stored event again.
    Reprocess(Reprocess),
    /// Take the right to try a task.
    Claim(Claim),
    /// Keep it longer.
    Renew(Renew),
    /// Say what is about to be sent.
    Prepare(Prepare),
    /// Record what came of a try.
    Settle(Settle),
    /// Do what time has made due for one aggregate: expire an order, give up waiting for a payment's order, take up what
    /// was parked or lost its worker, and apply the present policy.
    Sweep(Key),
    /// Put rows of another store.
    Import(Import),
}

fn digest_of(parts: &[&str]) -> Digest {
    Digest::of_parts(parts.iter().map(|part| part.as_bytes()))
}

impl PlaceOrder {
    /// Digest of what was asked, without who asked and without what was generated for it.
    #[must_use]
    pub fn request(&self) -> Digest {
        let number = |n: usize| n.to_string();
        let mut parts = vec![
            if self.generated { String::new() } else { self.order.to_string() },
            self.customer.as_ref().map(ToString::to_string).unwrap_or_default(),
            self.total.unit().to_string(),
            self.total.amount_minor().to_string(),
            format!("{:?}", self.fulfil),
            self.expires_at.map(|at| at.0.to_string()).unwrap_or_default(),
            number(self.lines.len()),
        ];
        for line in &self.lines {
            parts.extend([line.sku.to_string(), line.quantity.to_string()]);
        }
        for reference in self.references.iter().collect::<BTreeSet<_>>() {
            parts.extend(reference.parts());
        }
        Digest::of_parts(parts.iter().map(String::as_bytes))
    }
}

impl NewReference {
    /// The row that it makes.
    #[must_use]
    pub fn key(&self) -> ReferenceKey {
        ReferenceKey::Provider(self.account.clone(), self.id.clone())
    }

    fn parts(&self) -> [String; 3] {
        let expected = self.expected.as_ref().map(ToString::to_string).unwrap_or_default();
        [self.account.to_string(), self.id.to_string(), expected]
    }
}

impl Command {
    /// The command's name, as it stands in audit rows and metrics.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::PlaceOrder(_) => "place_order",
            Self::RegisterReference(_) => "register_reference",
            Self::CancelOrder(_) => "cancel_order",
            Self::Receive(_) => "receive",
            Self::Grant(_) => "grant",
            Self::GrantFailed(_) => "grant_failed",
            Self::RetryTask(_) => "retry_task",
            Self::SetProduct(_) => "set_product",
            Self::AddKey(_) => "add_key",
            Self::RevokeKey(_) => "revoke_key",
            Self::AskLookup(_) => "ask_lookup",
            Self::Observe(_) => "observe",
            Self::ResolveCase(_) => "resolve_case",
            Self::CancelTask(_) => "cancel_task",
            Self::SetEntitlement(c) if c.granted => "reinstate_entitlement",
            Self::SetEntitlement(_) => "revoke_entitlement",
            Self::MarkOutside(c) => match c.what {
                Outside::Paid => "mark_paid_outside",
                Outside::PaidReversed => "reverse_paid_outside",
                Outside::Refunded(_) => "mark_refunded_outside",
            },
            Self::ReviveOrder(_) => "revive_order",
            Self::Reprocess(_) => "reprocess",
            Self::Claim(_) => "claim",
            Self::Renew(_) => "renew",
            Self::Prepare(_) => "prepare",
            Self::Settle(_) => "settle",
            Self::Sweep(_) => "sweep",
            Self::Import(_) => "import",
        }
    }

    /// Who sent it; `None` for what the machinery itself submits.
    #[must_use]
    pub fn stamp(&self) -> Option<&Stamp> {
        match self {
            Self::PlaceOrder(c) => Some(&c.stamp),
            Self::RegisterReference(c) => Some(&c.stamp),
            Self::CancelOrder(c) => Some(&c.stamp),
            Self::RetryTask(c) => Some(&c.stamp),
            Self::SetProduct(c) => Some(&c.stamp),
            Self::AddKey(c) => Some(&c.stamp),
            Self::RevokeKey(c) => Some(&c.stamp),
            Self::ResolveCase(c) => Some(&c.stamp),
            Self::CancelTask(c) => Some(&c.stamp),
            Self::SetEntitlement(c) => Some(&c.stamp),
            Self::MarkOutside(c) => Some(&c.stamp),
            Self::ReviveOrder(c) => Some(&c.stamp),
            Self::Reprocess(c) => Some(&c.stamp),
            Self::Receive(_)
            | Self::Grant(_)
            | Self::GrantFailed(_)
            | Self::AskLookup(_)
            | Self::Observe(_)
            | Self::Claim(_)
            | Self::Renew(_)
            | Self::Prepare(_)
            | Self::Settle(_)
            | Self::Sweep(_)
            | Self::Import(_) => None,
        }
    }

    /// What the command is done to, for its audit row.
    #[must_use]
    pub fn subject(&self) -> String {
        match self {
            Self::PlaceOrder(c) => format!("order {}", c.order),
            Self::RegisterReference(c) => format!("order {} reference {}", c.order, c.reference.key()),
            Self::CancelOrder(c) => format!("order {}", c.order),
            Self::Receive(c) => format!("source {}", c.source),
            Self::Grant(task)
            | Self::GrantFailed(GrantFailed { task, .. })
            | Self::RetryTask(RetryTask { task, .. })
            | Self::CancelTask(CancelTask { task, .. })
            | Self::Claim(Claim { task, .. })
            | Self::Renew(Renew { task, .. })
            | Self::Prepare(Prepare { task, .. })
            | Self::Settle(Settle { task, .. }) => task.to_string(),
            Self::Sweep(key) => format!("{key:?}"),
            Self::AskLookup(AskLookup { payment }) | Self::Observe(Observe { payment, .. }) => {
                format!("payment {payment}")
            }
            Self::ResolveCase(c) => format!("case {} {} {}", c.case.handle(), c.case.reason, c.case.subject),
            Self::SetEntitlement(c) => format!("order {} {}", c.order, c.unit),
            Self::MarkOutside(c) => format!("order {} {} {}", c.order, c.id, c.money),
            Self::ReviveOrder(c) => format!("order {}", c.order),
            Self::Reprocess(c) => format!("event {} {}", c.account, c.notice.id),
            Self::Import(c) => format!("{} rows", c.rows.len()),
            Self::SetProduct(c) => format!("product {}", c.sku),
            Self::AddKey(c) => format!("key {}", c.name),
            Self::RevokeKey(c) => format!("key {}", c.name),
        }
    }

    /// Digest of what is asked: the same command id with another one is refused.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        let name = self.name();
        match self {
            Self::PlaceOrder(c) => digest_of(&[name, &c.request().to_hex()]),
            Self::RegisterReference(c) => {
                let [account, id, expected] = c.reference.parts();
                digest_of(&[name, c.order.as_str(), &account, &id, &expected])
            }
            Self::SetProduct(c) => {
                let mut parts = vec![name.to_owned(), c.sku.to_string()];
                parts.push(c.stock.map(|stock| stock.to_string()).unwrap_or_default());
                parts.extend(c.prices.iter().map(ToString::to_string));
                Digest::of_parts(parts.iter().map(String::as_bytes))
            }
            Self::AddKey(c) => digest_of(&[name, c.name.as_str(), &c.digest.to_hex(), c.scope.as_str()]),
            Self::ResolveCase(c) => {
                let decision = match &c.decision {
                    Decision::Accept => "accept".to_owned(),
                    Decision::Reject => "reject".to_owned(),
                    Decision::Note => "note".to_owned(),
                    Decision::Bind(order) => format!("bind {order}"),
                };
                let reason = c.stamp.reason.as_deref().unwrap_or_default();
                digest_of(&[name, &self.subject(), &c.case.evidence.to_hex(), &decision, reason])
            }
            Self::MarkOutside(MarkOutside { what: Outside::Refunded(payment), .. }) => {
                digest_of(&[name, &self.subject(), &payment.to_string()])
            }
            Self::Reprocess(c) => digest_of(&[name, &self.subject(), &c.notice.content.to_hex()]),
            Self::CancelOrder(CancelOrder { unpaid: true, .. }) => {
                digest_of(&[name, &self.subject(), "unpaid"])
            }
            _ => digest_of(&[name, &self.subject()]),
        }
    }

    /// The aggregates that it looks at first, whatever they hold. What those lead to is [`crate::Ledger::implied`].
    #[must_use]
    pub fn keys(&self) -> Keys {
        let mut keys = Keys::new();
        keys.extend(self.stamp().map(|stamp| Key::Command(stamp.id.clone())));
        match self {
            Self::PlaceOrder(c) => {
                keys.insert(Key::Order(c.order.clone()));
                keys.extend(c.reference_keys().into_iter().map(Key::Reference));
                keys.extend(c.lines.iter().map(|line| Key::Product(line.sku.clone())));
            }
            Self::RegisterReference(c) => {
                keys.insert(Key::Order(c.order.clone()));
                keys.insert(Key::Reference(c.reference.key()));
            }
            Self::CancelOrder(c) => {
                keys.insert(Key::Order(c.order.clone()));
            }
            Self::Receive(c) => c.notices.iter().for_each(|notice| c.notice_keys(notice, &mut keys)),
            Self::Grant(task)
            | Self::GrantFailed(GrantFailed { task, .. })
            | Self::RetryTask(RetryTask { task, .. })
            | Self::CancelTask(CancelTask { task, .. })
            | Self::Claim(Claim { task, .. })
            | Self::Renew(Renew { task, .. })
            | Self::Prepare(Prepare { task, .. })
            | Self::Settle(Settle { task, .. }) => {
                keys.insert(task.key());
            }
            Self::Sweep(key) => {
                keys.insert(key.clone());
            }
            Self::AskLookup(AskLookup { payment }) | Self::Observe(Observe { payment, .. }) => {
                keys.insert(Key::Payment(payment.clone()));
            }
            Self::ResolveCase(c) => {
                keys.insert(c.case.subject.key());
                if let Decision::Bind(order) = &c.decision {
                    keys.insert(Key::Order(order.clone()));
                }
            }
            Self::SetEntitlement(c) => {
                keys.insert(Key::Order(c.order.clone()));
            }
            Self::MarkOutside(c) => {
                keys.insert(Key::Order(c.order.clone()));
                keys.insert(Key::Payment(c.payment()));
            }
            Self::ReviveOrder(c) => {
                keys.insert(Key::Order(c.order.clone()));
            }
            Self::Reprocess(c) => c.receive().notice_keys(&c.notice, &mut keys),
            Self::Import(c) => keys.extend(c.rows.iter().filter_map(Row::aggregate)),
            Self::SetProduct(c) => {
                keys.insert(Key::Product(c.sku.clone()));
            }
            Self::AddKey(c) => {
                keys.insert(Key::ApiKey(c.name.clone()));
            }
            Self::RevokeKey(c) => {
                keys.insert(Key::ApiKey(c.name.clone()));
            }
        }
        keys
    }
}

impl PlaceOrder {
    /// Every row through which a payment could find this order.
    #[must_use]
    pub fn reference_keys(&self) -> BTreeSet<ReferenceKey> {
        let mut keys: BTreeSet<_> = self.references.iter().map(NewReference::key).collect();
        keys.insert(ReferenceKey::Issued(self.hint.clone()));
        if let Ok(own) = Hint::new(self.order.as_str()) {
            keys.insert(if self.generated { ReferenceKey::Issued(own) } else { ReferenceKey::Own(own) });
        }
        keys
    }
}

impl Receive {
    fn notice_keys(&self, notice: &Notice, keys: &mut Keys) {
        keys.insert(Key::Event(EventKey { account: self.account.clone(), id: notice.id.clone() }));
        let Reading::Facts(claims) = &notice.reading else { return };
        keys.insert(Key::Payment(PaymentKey { account: self.account.clone(), id: claims.payment.clone() }));
        keys.extend(self.mentions(notice).into_iter().map(Key::Reference));
    }

    /// Every row through which a notice's payment could find an order, own ids included: whether those count
    /// is the source's policy.
    #[must_use]
    pub fn mentions(&self, notice: &Notice) -> BTreeSet<ReferenceKey> {
        let Reading::Facts(claims) = &notice.reading else { return BTreeSet::new() };
        let provider = |id: ReferenceId| ReferenceKey::Provider(self.account.clone(), id);
        let own = ReferenceId::new(claims.payment.as_str()).ok();
        let references = claims.references.iter().cloned().chain(own).map(provider);
        let hints = claims
            .hints
            .iter()
            .flat_map(|hint| [ReferenceKey::Issued(hint.clone()), ReferenceKey::Own(hint.clone())]);
        references.chain(hints).collect()
    }
}
