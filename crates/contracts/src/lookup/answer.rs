//! The answer: facts with ids, in the ledger's words, or why it is none.

use paidonce_ledger::{EventId, Fact, Hint, Mode, PaymentId, Reading, ReferenceId};

use super::{Lookup, LookupRefused};
use crate::json::{Document, Kind};
use crate::pointer::Scope;
use crate::read::{holds_all, kind as kind_of, mode as mode_of, reading, scalar};
use crate::secret::Secret;

/// What a provider says of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// There is no such payment. (Mollie's hook is tested with ids that do not exist: such an event is acknowledged.)
    NotFound,
    /// This is what it knows: `facts` and `provider_revision` are what `Observe` takes.
    Found(Snapshot),
}

/// A payment as its provider knows it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Captures, refunds and disputes with their ids, totals, the end.
    pub facts: Vec<Fact>,
    /// Other objects of the provider that it names.
    pub references: Vec<ReferenceId>,
    /// Texts that may name an order.
    pub hints: Vec<Hint>,
    /// The provider's own revision of the object, where it has one.
    pub provider_revision: Option<u64>,
    /// Whether it lists everything. What does not must not be submitted as a complete listing.
    pub complete: bool,
}

/// A token that stands for the key for a while.
#[derive(Debug, Clone)]
pub struct Token {
    /// What [`Lookup::request`] takes as the key.
    pub key: Secret,
    /// For how long.
    pub expires_in_s: u64,
}

impl Lookup<'_> {
    /// Reads the answer to [`Self::request`].
    ///
    /// # Errors
    /// It is no answer about this payment; whether trying again may help is [`LookupRefused::retryable`].
    pub fn read(
        &self,
        asked: &PaymentId,
        mode: Mode,
        status: u16,
        body: &[u8],
    ) -> Result<Answer, LookupRefused> {
        if self.rule.not_found.contains(&status) {
            return Ok(Answer::NotFound);
        }
        succeeded(status)?;
        let document = parsed(body)?;
        let (plan, root) = (&self.rule.plan, document.root());
        let scope = Scope { event: root, item: None };
        let unreadable = |why: scalar::Unreadable| LookupRefused::Unreadable(why.0);
        if mode_of(plan, scope).map_err(unreadable)?.is_some_and(|said| said != mode) {
            return Err(LookupRefused::AnotherMode);
        }
        let kind = kind_of(plan, scope, &[]).map_err(unreadable)?;
        let rows = plan.table.get(&*kind).ok_or(LookupRefused::UnknownStatus)?;
        debug_assert!(!rows.is_empty(), "a type is in the table because a row names it");
        // Only facts of kinds that `[lookup]` refuses would name this event.
        let event = EventId::new("lookup").map_err(|error| LookupRefused::Unreadable(error.to_string()))?;
        let claims = match reading(plan, &kind, &event, scope) {
            Reading::Facts(claims) => claims,
            Reading::Ignored => return self.nothing(asked, scope),
            Reading::Unreadable(why) => return Err(LookupRefused::Unreadable(why)),
        };
        if claims.payment != *asked {
            return Err(LookupRefused::AnotherPayment);
        }
        Ok(Answer::Found(Snapshot {
            facts: claims.facts,
            references: claims.references,
            hints: claims.hints,
            ..self.empty(scope)?
        }))
    }

    /// A state without any money and without an end: the row says `ignore`. It still has to be about this payment.
    fn nothing(&self, asked: &PaymentId, scope: Scope<'_>) -> Result<Answer, LookupRefused> {
        let crate::contract::plan::IdRule::Member(members) = &self.rule.plan.id else {
            return Err(LookupRefused::AnotherPayment);
        };
        let said = members.find(scope).and_then(|(_, value)| scalar::plain_text(value));
        if said != Some(asked.as_str()) {
            return Err(LookupRefused::AnotherPayment);
        }
        self.empty(scope).map(Answer::Found)
    }

    fn empty(&self, scope: Scope<'_>) -> Result<Snapshot, LookupRefused> {
        let revision = match &self.rule.revision {
            None => None,
            Some(pointer) => {
                let text = pointer.find(scope).and_then(scalar::plain_text);
                let malformed =
                    || LookupRefused::Unreadable(format!("{}: not a whole number", pointer.text()));
                Some(text.and_then(|text| text.parse().ok()).ok_or_else(malformed)?)
            }
        };
        Ok(Snapshot {
            facts: Vec::new(),
            references: Vec::new(),
            hints: Vec::new(),
            provider_revision: revision,
            complete: !self.rule.complete_when.is_empty() && holds_all(&self.rule.complete_when, scope),
        })
    }

    /// Reads the answer to [`Self::token_request`].
    ///
    /// # Errors
    /// There is no token in it.
    pub fn read_token(&self, status: u16, body: &[u8]) -> Result<Token, LookupRefused> {
        succeeded(status)?;
        let document = parsed(body)?;
        let member = |name: &str| document.root().child(name).map(|value| value.kind().clone());
        match (member("access_token"), member("expires_in")) {
            (Some(Kind::Text(token)), Some(Kind::Number(seconds))) if !token.is_empty() => {
                let malformed = |_| LookupRefused::Unreadable("expires_in: not whole seconds".to_owned());
                let expires_in_s = seconds.parse().map_err(malformed)?;
                Ok(Token { key: Secret::new(token.into_owned()), expires_in_s })
            }
            _ => Err(LookupRefused::Unreadable("access_token, expires_in: absent".to_owned())),
        }
    }
}

pub(super) fn succeeded(status: u16) -> Result<(), LookupRefused> {
    match status {
        200..=299 => Ok(()),
        401 | 403 => Err(LookupRefused::Unauthorized(status)),
        408 | 425 | 429 | 500..=599 => Err(LookupRefused::Later(status)),
        _ => Err(LookupRefused::Status(status)),
    }
}

pub(super) fn parsed(body: &[u8]) -> Result<Document<'_>, LookupRefused> {
    Document::parse(body).map_err(|error| LookupRefused::Unreadable(format!("body: {error}")))
}
