//! The ledger: ordered tables, what of them is loaded, and how a command runs on them.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use crate::case::{Case, CaseKey, Reason, Subject};
use crate::command::Command;
use crate::digest::Digest;
use crate::fact::{FactKey, FactValue, Facts};
use crate::id::{CommandId, EventKey, KeyName, OrderId, PaymentKey, ReferenceKey, Sku};
use crate::key::{Key, Keys, Need};
use crate::order::{Order, Unit};
use crate::policy::Policy;
use crate::product::{Product, StockState};
use crate::reply::Reply;
use crate::row::{ApiKey, Audit, AuditKey, CommandRecord, Entitlement, Event, Payment, Reference};
use crate::table::{Change, Table};
use crate::task::{Attempt, AttemptKey, Task, TaskKey, Work};
use crate::time::Timestamp;

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident $variant:ident: $key:ty => $row:ty,)+) => {
        /// Everything that is known, or the part of it that a store loaded for one batch.
        ///
        /// `Clone + Eq + Hash` over the rows alone, so that it can be a model checker's state.
        #[derive(Debug, Clone, Default)]
        pub struct Ledger {
            $($(#[$doc])* pub $name: Table<$key, $row>,)+
            /// The loaded aggregates; `None` if this ledger holds everything there is.
            loaded: Option<Keys>,
        }

        /// The net change of every row since they were last taken, table by table, each by key.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Changes { $($(#[$doc])* pub $name: Vec<Change<$key, $row>>,)+ }

        impl Changes {
            /// Whether no row of any table changed.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                true $(&& self.$name.is_empty())+
            }
        }

        /// One row of any table, with its key: what exports, imports and the document store move.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum Row { $($(#[$doc])* $variant($key, $row),)+ }

        struct Mark { $($name: usize,)+ }

        impl Ledger {
            /// Takes the net changes and starts a new journal.
            pub fn take_changes(&mut self) -> Changes {
                Changes { $($name: self.$name.take_changes(),)+ }
            }

            /// The net changes, of a ledger that is not needed any more.
            #[must_use]
            pub fn into_changes(self) -> Changes {
                Changes { $($name: self.$name.into_changes(),)+ }
            }

            /// Puts a row that was stored elsewhere. Not a change, and nothing is checked.
            pub fn load_row(&mut self, row: Row) {
                match row { $(Row::$variant(key, row) => self.$name.load(key, row),)+ }
            }

            /// Whether exactly this row is there; `None` if there is none under its key.
            #[must_use]
            pub fn holds(&self, row: &Row) -> Option<bool> {
                match row { $(Row::$variant(key, row) => self.$name.get(key).map(|held| held == row),)+ }
            }

            /// How many rows there are in all tables.
            #[must_use]
            pub fn len(&self) -> usize {
                0 $(+ self.$name.rows().len())+
            }

            /// Whether there is no row at all.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            pub(crate) fn put_row(&mut self, row: &Row) {
                match row { $(Row::$variant(key, row) => self.$name.put(key.clone(), row.clone()),)+ }
            }

            fn mark(&self) -> Mark {
                Mark { $($name: self.$name.mark(),)+ }
            }

            fn undo_to(&mut self, mark: &Mark) {
                $(self.$name.undo_to(mark.$name);)+
            }

            fn changed_since(&self, mark: &Mark) -> bool {
                false $(|| self.$name.mark() > mark.$name)+
            }
        }

        impl PartialEq for Ledger {
            fn eq(&self, other: &Self) -> bool {
                true $(&& self.$name == other.$name)+
            }
        }
        impl Eq for Ledger {}
        impl Hash for Ledger {
            fn hash<H: Hasher>(&self, state: &mut H) {
                $(self.$name.hash(state);)+
            }
        }
    };
}

tables! {
    /// Verified notifications.
    events Event: EventKey => Event,
    /// Payments, and whose they are.
    payments Payment: PaymentKey => Payment,
    /// What is known of the payments.
    facts Fact: (PaymentKey, FactKey) => FactValue,
    /// Orders.
    orders Order: OrderId => Order,
    /// What is sold at the server's price.
    products Product: Sku => Product,
    /// Where mentions and registrations meet.
    references Reference: ReferenceKey => Reference,
    /// The outbox.
    tasks Task: TaskKey => Task,
    /// What came of each try. Written, never read by a decision.
    attempts Attempt: AttemptKey => Attempt,
    /// What was granted.
    entitlements Entitlement: (OrderId, Unit) => Entitlement,
    /// What is held for a person.
    cases Case: CaseKey => Case,
    /// Commands that were answered, idempotency keys among them.
    commands Command: CommandId => CommandRecord,
    /// Who did what.
    audits Audit: AuditKey => Audit,
    /// API keys.
    api_keys ApiKey: KeyName => ApiKey,
}

impl Row {
    /// The aggregate that it is loaded with; `None` for an audit row and a try, which nothing is decided by.
    #[must_use]
    pub fn aggregate(&self) -> Option<Key> {
        Some(match self {
            Self::Event(key, _) => Key::Event(key.clone()),
            Self::Payment(key, _) | Self::Fact((key, _), _) => Key::Payment(key.clone()),
            Self::Order(id, _) | Self::Entitlement((id, _), _) => Key::Order(id.clone()),
            Self::Product(sku, _) => Key::Product(sku.clone()),
            Self::Reference(key, _) => Key::Reference(key.clone()),
            Self::Task(key, _) => key.key(),
            Self::Case(key, _) => key.subject.key(),
            Self::Command(id, _) => Key::Command(id.clone()),
            Self::ApiKey(name, _) => Key::ApiKey(name.clone()),
            Self::Audit(..) | Self::Attempt(..) => return None,
        })
    }
}

/// A point to which one event of a delivery can be taken back while the others stay.
pub(crate) struct Savepoint(Mark);

/// What a decision has changed, for what is to be told of it.
pub(crate) struct History<'a> {
    pub(crate) entitlements: Vec<(&'a (OrderId, Unit), Option<&'a Entitlement>)>,
    pub(crate) orders: Vec<(&'a OrderId, Option<&'a Order>)>,
    pub(crate) tasks: Vec<(&'a TaskKey, Option<&'a Task>)>,
    pub(crate) facts: Vec<&'a (PaymentKey, FactKey)>,
}

impl Ledger {
    /// A ledger that holds everything there is: nothing, so far.
    #[must_use]
    pub fn whole() -> Self {
        Self::default()
    }

    /// A ledger of which nothing is loaded.
    #[must_use]
    pub fn unloaded() -> Self {
        Self { loaded: Some(Keys::new()), ..Self::default() }
    }

    /// Says that everything under `key` has been put in with [`Table::load`], or is known to be absent.
    pub fn mark_loaded(&mut self, key: Key) {
        if let Some(loaded) = &mut self.loaded {
            loaded.insert(key);
        }
    }

    /// Whether absence under `key` means absence.
    #[must_use]
    pub fn is_loaded(&self, key: &Key) -> bool {
        self.loaded.as_ref().is_none_or(|loaded| loaded.contains(key))
    }

    /// Which further aggregates the loaded ones lead to, and are not loaded. A store fetches until there are none;
    /// [`Reply::Need`] catches whatever this forgets.
    #[must_use]
    pub fn implied(&self) -> Keys {
        let mut keys = Keys::new();
        for payment in self.payments.rows().values() {
            keys.extend(payment.order.clone().map(Key::Order));
        }
        for reference in self.references.rows().values() {
            keys.extend(reference.order.clone().map(Key::Order));
            keys.extend(reference.payments.iter().cloned().map(Key::Payment));
        }
        for order in self.orders.rows().values() {
            keys.extend(order.payments.iter().cloned().map(Key::Payment));
            // What is held is about to be sold or released; what is neither is not looked at any more.
            let held = order.stock.iter().filter(|stock| stock.state == StockState::Reserved);
            keys.extend(held.flat_map(|stock| stock.pieces.keys().cloned()).map(Key::Product));
        }
        keys.retain(|key| !self.is_loaded(key));
        keys
    }

    /// Runs one command: all of it, or nothing if it is refused or needs more.
    ///
    /// `now` is the engine's clock; no decision about what is true depends on it.
    pub fn execute(&mut self, command: &Command, now: Timestamp, policy: &Policy) -> Reply {
        let start = self.savepoint();
        match crate::decide::run(self, command, now, policy) {
            Ok(reply) => reply,
            Err(Need(keys)) => {
                self.undo_to_savepoint(&start);
                Reply::Need(keys)
            }
        }
    }

    pub(crate) fn savepoint(&self) -> Savepoint {
        Savepoint(self.mark())
    }

    pub(crate) fn changed_since_savepoint(&self, savepoint: &Savepoint) -> bool {
        self.changed_since(&savepoint.0)
    }

    pub(crate) fn undo_to_savepoint(&mut self, savepoint: &Savepoint) {
        self.undo_to(&savepoint.0);
    }

    /// Entitlements, orders, tasks and facts that were changed since, with what stood there before.
    pub(crate) fn history(&self, savepoint: &Savepoint) -> History<'_> {
        let mark = &savepoint.0;
        History {
            entitlements: self.entitlements.changed_since(mark.entitlements).collect(),
            orders: self.orders.changed_since(mark.orders).collect(),
            tasks: self.tasks.changed_since(mark.tasks).collect(),
            facts: self.facts.changed_since(mark.facts).map(|(key, _)| key).collect(),
        }
    }

    // Every read of a decision goes through one of these: absence is never inferred from not having asked.

    /// A row that is there was loaded or written, so only absence asks whether it means absence.
    fn row<'a, K: Ord + Clone, V: Clone + PartialEq>(
        &self,
        table: &'a Table<K, V>,
        key: &K,
        aggregate: impl FnOnce() -> Key,
    ) -> Result<Option<&'a V>, Need> {
        match table.get(key) {
            Some(row) => Ok(Some(row)),
            None => self.require(aggregate()).map(|()| None),
        }
    }

    pub(crate) fn require(&self, key: Key) -> Result<(), Need> {
        if self.is_loaded(&key) { Ok(()) } else { Err(Need::one(key)) }
    }

    pub(crate) fn event(&self, key: &EventKey) -> Result<Option<&Event>, Need> {
        self.row(&self.events, key, || Key::Event(key.clone()))
    }

    pub(crate) fn payment(&self, key: &PaymentKey) -> Result<Option<&Payment>, Need> {
        self.row(&self.payments, key, || Key::Payment(key.clone()))
    }

    pub(crate) fn order(&self, id: &OrderId) -> Result<Option<&Order>, Need> {
        self.row(&self.orders, id, || Key::Order(id.clone()))
    }

    pub(crate) fn product(&self, sku: &Sku) -> Result<Option<&Product>, Need> {
        self.row(&self.products, sku, || Key::Product(sku.clone()))
    }

    pub(crate) fn reference(&self, key: &ReferenceKey) -> Result<Option<&Reference>, Need> {
        self.row(&self.references, key, || Key::Reference(key.clone()))
    }

    pub(crate) fn command(&self, id: &CommandId) -> Result<Option<&CommandRecord>, Need> {
        self.row(&self.commands, id, || Key::Command(id.clone()))
    }

    pub(crate) fn api_key(&self, name: &KeyName) -> Result<Option<&ApiKey>, Need> {
        self.row(&self.api_keys, name, || Key::ApiKey(name.clone()))
    }

    pub(crate) fn fact(&self, payment: &PaymentKey, key: &FactKey) -> Result<Option<FactValue>, Need> {
        self.require(Key::Payment(payment.clone()))?;
        Ok(self.facts.get(&(payment.clone(), key.clone())).copied())
    }

    pub(crate) fn task(&self, key: &TaskKey) -> Result<Option<&Task>, Need> {
        self.row(&self.tasks, key, || key.key())
    }

    pub(crate) fn entitlement(&self, order: &OrderId, unit: Unit) -> Result<Option<&Entitlement>, Need> {
        self.require(Key::Order(order.clone()))?;
        Ok(self.entitlements.get(&(order.clone(), unit)))
    }

    pub(crate) fn case(&self, key: &CaseKey) -> Result<Option<&Case>, Need> {
        self.row(&self.cases, key, || key.subject.key())
    }

    /// Every fact of a payment, those that a listing has answered for included. Loaded or not is the caller's
    /// concern: decisions ask for the payment first.
    pub fn all_facts_of(&self, payment: &PaymentKey) -> impl Iterator<Item = (&FactKey, &FactValue)> {
        let from = (payment.clone(), FactKey::Pending(None));
        let of = payment.clone();
        self.facts
            .rows()
            .range(from..)
            .take_while(move |((payment, _), _)| *payment == of)
            .map(|((_, key), value)| (key, value))
    }

    /// The facts of a payment that stand: a listing retires what was unsure and said before it was asked.
    #[must_use]
    pub fn facts_of(&self, payment: &PaymentKey) -> Facts {
        let listing = self.payments.get(payment).map_or(0, |payment| payment.listing);
        self.all_facts_of(payment)
            .filter(|(key, value)| value.asked >= listing || !key.answered_by_listing())
            .map(|(key, value)| (key.clone(), *value))
            .collect()
    }

    /// The cases about a subject.
    pub fn cases_of(&self, subject: &Subject) -> impl Iterator<Item = (&CaseKey, &Case)> {
        let from = CaseKey { subject: subject.clone(), reason: Reason::ALL[0], evidence: Digest([0; 32]) };
        self.cases.rows().range(from..).take_while(move |(key, _)| key.subject == *subject)
    }

    /// The tasks of an aggregate.
    pub fn tasks_of(&self, subject: &Subject) -> impl Iterator<Item = (&TaskKey, &Task)> {
        let from = TaskKey { subject: subject.clone(), work: Work::Grant(Unit::Order) };
        self.tasks.rows().range(from..).take_while(move |(key, _)| key.subject == *subject)
    }

    /// The entitlements of an order.
    pub fn entitlements_of(&self, order: &OrderId) -> impl Iterator<Item = (Unit, &Entitlement)> {
        self.entitlements
            .rows()
            .range((order.clone(), Unit::Order)..)
            .take_while(move |((of, _), _)| of == order)
            .map(|((_, unit), row)| (*unit, row))
    }

    /// The facts of each payment bound to an order.
    ///
    /// # Errors
    /// [`Need`] names the payments that are not loaded.
    pub fn payments_of(&self, order: &Order) -> Result<Vec<(PaymentKey, Facts)>, Need> {
        let missing: BTreeSet<_> =
            order.payments.iter().cloned().map(Key::Payment).filter(|key| !self.is_loaded(key)).collect();
        if !missing.is_empty() {
            return Err(Need(missing));
        }
        Ok(order.payments.iter().map(|key| (key.clone(), self.facts_of(key))).collect())
    }
}
