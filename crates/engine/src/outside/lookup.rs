//! One lookup: claim, ask the provider, submit its answer, record.

use std::collections::BTreeSet;

use paidonce_ledger::{
    Command, EventId, Fact, FactKey, Key, Keys, Observe, Outcome, PaymentKey, ReferenceId, ReferenceKey,
    Reply, Subject, TaskKey,
};
use paidonce_store::{EventFilter, Page, Result as StoreResult, Store};

use super::attempt::before;
use super::record::Tried;
use super::{Health, Outside};
use crate::destination::Answer;
use crate::engine::Engine;
use crate::lookup::{Lookup, Question, Told};

impl Outside {
    pub(super) async fn look_up(&self, engine: &Engine, task: &TaskKey, provider: &dyn Lookup) -> Health {
        let Subject::Payment(payment) = &task.subject else { return Health::Unasked };
        let begun = engine.clock().instant();
        let Some(claimed) = self.claim(engine, task).await else { return Health::Unasked };
        let deadline = self.deadline(begun);
        let asked = payment.clone();
        let known = engine.query(move |store| known(store, &asked)).await;
        let (answer, health) = match known {
            Err(error) => (retry(error.to_string()), Health::Unasked),
            Ok(Known { references, event, unsure }) => {
                let question = Question { payment: payment.clone(), references, event, deadline };
                let told = before(&**engine.clock(), deadline, provider.ask(question)).await;
                let silence = Told::Nothing {
                    not_before: None,
                    detail: "there was no answer before the deadline".to_owned(),
                    answered: false,
                };
                let told = restating(told.unwrap_or(silence), unsure);
                self.take_in(engine, payment, claimed.number, told).await
            }
        };
        let took = engine.clock().instant().saturating_duration_since(begun);
        self.record(engine, task, claimed.version, Tried { answer, took }).await;
        health
    }

    async fn take_in(
        &self,
        engine: &Engine,
        payment: &PaymentKey,
        number: u32,
        told: Told,
    ) -> (Answer, Health) {
        match told {
            Told::Account { complete: _, provider_revision, facts } => {
                let observe = Observe { payment: payment.clone(), number, provider_revision, facts };
                let answer = match self.write(engine, Command::Observe(observe)).await {
                    Some(Reply::Observed) => {
                        Answer { outcome: Outcome::Done, detail: "the provider answered".to_owned() }
                    }
                    Some(Reply::Refused(refusal)) => retry(refusal.to_string()),
                    _ => retry("the answer could not be stored".to_owned()),
                };
                (answer, Health::Answered)
            }
            Told::Nothing { not_before, detail, answered } => {
                let health = if answered { Health::Answered } else { Health::Failed };
                (Answer { outcome: Outcome::Retry(not_before), detail }, health)
            }
        }
    }
}

fn retry(detail: String) -> Answer {
    Answer { outcome: Outcome::Retry(None), detail }
}

/// What is known of a payment before its provider is asked.
struct Known {
    /// What its events named and may lead to it, where its own id does not.
    references: Vec<ReferenceId>,
    /// The newest event about it.
    event: Option<EventId>,
    /// What a complete answer would retire: totals, an end, money without an amount.
    unsure: Vec<Fact>,
}

/// An answer that does not list everything retires nothing but that the payment was to be asked about: what else was
/// unsure is said again with it, and stays so.
fn restating(told: Told, unsure: Vec<Fact>) -> Told {
    match told {
        Told::Account { complete: false, provider_revision, mut facts } => {
            let said: BTreeSet<_> = facts.iter().map(|fact| fact.key.clone()).collect();
            facts.extend(unsure.into_iter().filter(|fact| !said.contains(&fact.key)));
            Told::Account { complete: false, provider_revision, facts }
        }
        other => other,
    }
}

fn known(store: &dyn Store, payment: &PaymentKey) -> StoreResult<Known> {
    let ledger = store.load(&Keys::from([Key::Payment(payment.clone())]))?;
    let mentions = ledger.payments.get(payment).into_iter().flat_map(|row| &row.mentions);
    let references = mentions.filter_map(|mention| match mention {
        ReferenceKey::Provider(_, id) => Some(id.clone()),
        ReferenceKey::Issued(_) | ReferenceKey::Own(_) => None,
    });
    let filter = EventFilter { payment: Some(payment.clone()), ..EventFilter::default() };
    let newest = store.events(&filter, &Page::first(1))?.rows.into_iter().next();
    let unsure = ledger
        .facts_of(payment)
        .into_iter()
        .filter(|(key, _)| key.answered_by_listing() && *key != FactKey::Announced);
    Ok(Known {
        references: references.collect(),
        event: newest.map(|(key, _)| key.id),
        unsure: unsure.map(|(key, value)| Fact { key, value }).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use paidonce_ledger::testing::{eur, id};
    use paidonce_ledger::{CaptureState, Money};

    fn total(text: &str) -> Fact {
        let key = FactKey::TotalRefunded(Some(eur("1").unit().clone()));
        Fact { key, value: Fact::captured(id("c"), CaptureState::Settled, Some(eur(text))).value }
    }

    fn told(complete: bool, facts: Vec<Fact>) -> Told {
        Told::Account { complete, provider_revision: None, facts }
    }

    #[test]
    fn only_an_answer_that_lists_everything_retires_a_total() {
        let capture = || Fact::captured(id("pi_1"), CaptureState::Settled, Some(Money::clone(&eur("9"))));
        let unsure = || vec![total("5")];
        assert_eq!(restating(told(true, vec![capture()]), unsure()), told(true, vec![capture()]));
        assert_eq!(
            restating(told(false, vec![capture()]), unsure()),
            told(false, vec![capture(), total("5")])
        );
        assert_eq!(restating(told(false, vec![total("7")]), unsure()), told(false, vec![total("7")]));
    }
}
