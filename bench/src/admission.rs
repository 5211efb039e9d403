//! One admission by hand: what a careful developer writes for the first notification of a paid order.
//!
//! The tables are paidonce's own, and so are the rows: event with its body, payment, captured fact, the order with its
//! payment and next revision, the task. One transaction; its statements are in the workload. Here is what a
//! notification says, and what its rows hold.

use serde::Deserialize;
use sha2::{Digest, Sha256};

use paidonce_workload::ACCOUNT;

/// A notification that was read, with the values of its rows.
#[derive(Debug, Clone)]
pub struct Notification {
    /// Its id.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// The payment intent.
    pub intent: String,
    /// What the payment names, as JSON.
    pub mentions: String,
    /// The order's payments once this one is among them, as JSON.
    pub payments: String,
    /// The unit of money.
    pub unit: String,
    /// Minor units.
    pub amount: i64,
    /// SHA-256 of the body.
    pub digest: [u8; 32],
    /// The body.
    pub body: Vec<u8>,
}

#[derive(Deserialize)]
struct Event<'a> {
    id: &'a str,
    r#type: &'a str,
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow)]
    object: Intent<'a>,
}

#[derive(Deserialize)]
struct Intent<'a> {
    id: &'a str,
    amount_received: i64,
    currency: &'a str,
    latest_charge: Option<&'a str>,
    #[serde(borrow)]
    metadata: Metadata<'a>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    order_id: Option<&'a str>,
}

impl Notification {
    /// Reads a body with serde_json.
    ///
    /// # Errors
    /// It is not such a notification.
    pub fn read(body: &[u8]) -> serde_json::Result<Self> {
        let event: Event<'_> = serde_json::from_slice(body)?;
        let intent = event.data.object;
        let account = account_json();
        let named = intent.latest_charge.into_iter().chain([intent.id]);
        let mut mentions: Vec<_> = named.map(|id| format!(r#"{{"Provider":[{account},"{id}"]}}"#)).collect();
        mentions.extend(intent.metadata.order_id.map(|id| format!(r#"{{"Issued":"{id}"}}"#)));
        Ok(Self {
            id: event.id.to_owned(),
            kind: event.r#type.to_owned(),
            intent: intent.id.to_owned(),
            mentions: format!("[{}]", mentions.join(",")),
            payments: format!(r#"[{{"account":{account},"id":"{}"}}]"#, intent.id),
            unit: intent.currency.to_ascii_uppercase(),
            amount: intent.amount_received,
            digest: Sha256::digest(body).into(),
            body: body.to_vec(),
        })
    }

    /// Whether what was received settles an order in this state.
    #[must_use]
    pub fn covers(&self, total: &str, unit: &str, state: &str) -> bool {
        state == "open" && unit == self.unit && total.parse().is_ok_and(|total: i64| self.amount >= total)
    }
}

fn account_json() -> String {
    let mut parts = ACCOUNT.split('/').map(|part| format!("\"{part}\""));
    let mut next = || parts.next().unwrap_or_default();
    format!(r#"{{"provider":{},"name":{},"mode":{}}}"#, next(), next(), next())
}

/// A name for the task that grants an order, as unique as paidonce's own.
#[must_use]
pub fn handle(order: &str) -> String {
    hex::encode(&Sha256::digest(order)[..6])
}

/// Milliseconds since the Unix epoch.
#[must_use]
pub fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}
