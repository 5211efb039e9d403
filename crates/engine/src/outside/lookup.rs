//! One lookup: claim, ask the provider, submit its answer, record.

use paidonce_ledger::{
    Command, EventId, Key, Keys, Observe, Outcome, PaymentKey, ReferenceId, ReferenceKey, Reply, Subject,
    TaskKey,
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
            Ok((references, event)) => {
                let question = Question { payment: payment.clone(), references, event, deadline };
                let told = before(&**engine.clock(), deadline, provider.ask(question)).await;
                let silence = Told::Nothing {
                    not_before: None,
                    detail: "there was no answer before the deadline".to_owned(),
                    answered: false,
                };
                self.take_in(engine, payment, claimed.number, told.unwrap_or(silence)).await
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
            Told::Account { provider_revision, facts } => {
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

/// What may lead to the payment where its own id does not: what its events named, and the newest of them.
fn known(store: &dyn Store, payment: &PaymentKey) -> StoreResult<(Vec<ReferenceId>, Option<EventId>)> {
    let ledger = store.load(&Keys::from([Key::Payment(payment.clone())]))?;
    let mentions = ledger.payments.get(payment).into_iter().flat_map(|row| &row.mentions);
    let references = mentions.filter_map(|mention| match mention {
        ReferenceKey::Provider(_, id) => Some(id.clone()),
        ReferenceKey::Issued(_) | ReferenceKey::Own(_) => None,
    });
    let references = references.collect();
    let filter = EventFilter { payment: Some(payment.clone()), ..EventFilter::default() };
    let newest = store.events(&filter, &Page::first(1))?.rows.into_iter().next();
    Ok((references, newest.map(|(key, _)| key.id)))
}
