//! What the scenarios' notifications say, as the bytes a provider would send: Stripe's envelopes, trimmed to the
//! members that a handler may look at, and one of stbl-pay's.

use paidonce_ledger::Digest;
use serde_json::{Value, json};

use super::PRICE_MINOR;

/// The kind of thing a notification says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// `checkout.session.completed`, paid.
    SessionPaid,
    /// `checkout.session.completed`, to be paid by a slow method.
    SessionUnpaid,
    /// `checkout.session.async_payment_succeeded`.
    SessionPaidLater,
    /// `payment_intent.succeeded`.
    Succeeded,
    /// `payment_intent.succeeded` that does not say an amount.
    SucceededWithoutAmount,
    /// `payment_intent.processing`.
    Processing,
    /// `payment_intent.payment_failed`.
    Failed,
    /// `refund.created`, done.
    Refunded,
    /// `charge.refunded`: how much went back in all.
    ChargeRefunded,
    /// Text that is no JSON.
    NotJson,
    /// stbl-pay's test notification.
    StblPayTest,
}

/// One notification, before it is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    /// Which of the scenario's event ids it has.
    pub(crate) nth: u8,
    /// What it says.
    pub(crate) says: Says,
    /// Which of the scenario's payments it is about.
    pub(crate) payment: u8,
    /// How much.
    pub(crate) amount_minor: i64,
    /// In which currency, in Stripe's lower case.
    pub(crate) currency: &'static str,
    /// Whether it says that the money is real.
    pub(crate) live: bool,
}

impl Event {
    /// The `nth` event of a scenario, about its first payment, in full, in test mode.
    pub(crate) const fn new(nth: u8, says: Says) -> Self {
        Self { nth, says, payment: 1, amount_minor: PRICE_MINOR, currency: "eur", live: false }
    }
}

/// The ids that one playing of a scenario uses: no two scenarios and no two runs share one.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    /// The scenario's slug.
    pub(crate) slug: &'static str,
    /// The run's tag: letters and digits.
    pub(crate) run: String,
    /// The hint that the order was given, to be carried by payloads that need one.
    pub(crate) hint: Option<String>,
    /// Unix seconds, for the `created` members.
    pub(crate) now_unix_s: i64,
}

impl Scene {
    fn id(&self, prefix: &str, nth: u8) -> String {
        format!("{prefix}_{}_{}_{nth}", self.slug, self.run)
    }

    /// The merchant's order id.
    pub(crate) fn order(&self) -> String {
        format!("{}-{}", self.slug, self.run)
    }

    /// A payment intent's id.
    pub(crate) fn payment(&self, nth: u8) -> String {
        self.id("pi", nth)
    }

    /// The checkout session's id of a payment.
    pub(crate) fn session(&self, payment: u8) -> String {
        self.id("cs_test", payment)
    }

    /// The id under which an event is kept: its own, or its body's digest if it has none.
    pub(crate) fn event(&self, event: &Event) -> String {
        match event.says {
            Says::NotJson => format!("sha256:{}", Digest::of_bytes(&self.body(event)).to_hex()),
            _ => self.id("evt", event.nth),
        }
    }

    /// The bytes of a notification. The same event has the same bytes, however often it is written.
    pub(crate) fn body(&self, event: &Event) -> Vec<u8> {
        let (kind, object) = match event.says {
            Says::NotJson => return format!("this is not json: {} {}", self.slug, self.run).into_bytes(),
            Says::StblPayTest => return self.stbl_pay_test(event).to_string().into_bytes(),
            Says::SessionPaid => ("checkout.session.completed", self.checkout(event, "paid")),
            Says::SessionUnpaid => ("checkout.session.completed", self.checkout(event, "unpaid")),
            Says::SessionPaidLater => {
                ("checkout.session.async_payment_succeeded", self.checkout(event, "paid"))
            }
            Says::Succeeded => ("payment_intent.succeeded", self.intent(event, "succeeded")),
            Says::SucceededWithoutAmount => {
                ("payment_intent.succeeded", without_amount(self.intent(event, "succeeded")))
            }
            Says::Processing => ("payment_intent.processing", self.intent(event, "processing")),
            Says::Failed => ("payment_intent.payment_failed", self.intent(event, "requires_payment_method")),
            Says::Refunded => ("refund.created", self.refund(event)),
            Says::ChargeRefunded => ("charge.refunded", self.charge(event)),
        };
        let envelope = json!({
            "id": self.event(event), "object": "event", "api_version": "2025-08-27.basil",
            "created": self.now_unix_s, "livemode": event.live, "pending_webhooks": 1,
            "request": { "id": null, "idempotency_key": null },
            "type": kind, "data": { "object": object },
        });
        envelope.to_string().into_bytes()
    }

    fn metadata(&self) -> Value {
        self.hint.as_ref().map_or_else(|| json!({}), |hint| json!({ "paidonce": hint }))
    }

    fn checkout(&self, event: &Event, payment_status: &str) -> Value {
        json!({
            "id": self.session(event.payment), "object": "checkout.session", "mode": "payment",
            "amount_subtotal": event.amount_minor, "amount_total": event.amount_minor,
            "currency": event.currency, "created": self.now_unix_s, "livemode": event.live,
            "client_reference_id": self.hint, "metadata": self.metadata(),
            "payment_intent": self.payment(event.payment), "payment_method_types": ["card"],
            "payment_status": payment_status, "status": "complete", "invoice": null,
        })
    }

    fn intent(&self, event: &Event, status: &str) -> Value {
        let received = if status == "succeeded" { event.amount_minor } else { 0 };
        let charge = (status != "processing").then(|| self.id("ch", event.payment));
        json!({
            "id": self.payment(event.payment), "object": "payment_intent", "amount": event.amount_minor,
            "amount_capturable": 0, "amount_received": received, "capture_method": "automatic",
            "currency": event.currency, "created": self.now_unix_s, "livemode": event.live,
            "latest_charge": charge, "metadata": self.metadata(), "status": status,
        })
    }

    fn charge(&self, event: &Event) -> Value {
        json!({
            "id": self.id("ch", event.payment), "object": "charge", "amount": PRICE_MINOR,
            "amount_captured": PRICE_MINOR, "amount_refunded": event.amount_minor, "captured": true,
            "currency": event.currency, "created": self.now_unix_s, "livemode": event.live, "metadata": {},
            "paid": true, "payment_intent": self.payment(event.payment),
            "refunded": event.amount_minor == PRICE_MINOR, "status": "succeeded",
        })
    }

    fn refund(&self, event: &Event) -> Value {
        json!({
            "id": self.id("re", event.payment), "object": "refund", "amount": event.amount_minor,
            "charge": self.id("ch", event.payment), "currency": event.currency, "created": self.now_unix_s,
            "metadata": {}, "payment_intent": self.payment(event.payment), "reason": null,
            "status": "succeeded",
        })
    }

    fn stbl_pay_test(&self, event: &Event) -> Value {
        json!({
            "id": self.event(event), "type": "payment.succeeded", "test": true,
            "payment_intent_id": self.payment(event.payment), "amount": event.amount_minor,
            "currency": event.currency,
        })
    }
}

/// Without every member that says how much.
fn without_amount(mut object: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.retain(|name, _| !name.starts_with("amount"));
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene() -> Scene {
        Scene { slug: "short", run: "r1".to_owned(), hint: None, now_unix_s: 1_700_000_000 }
    }

    #[test]
    fn one_event_has_one_body() {
        let event = Event::new(1, Says::Succeeded);
        assert_eq!(scene().body(&event), scene().body(&event));
        assert_ne!(scene().body(&event), scene().body(&Event { amount_minor: 1, ..event }));
    }

    #[test]
    fn a_body_without_an_id_is_known_by_its_digest() {
        let event = Event::new(1, Says::NotJson);
        assert!(scene().event(&event).starts_with("sha256:"));
        assert!(serde_json::from_slice::<Value>(&scene().body(&event)).is_err());
    }
}
