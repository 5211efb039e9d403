//! The orders and notifications that every side of a benchmark is given, as a pure function of a number.
//!
//! Notification `k` is the k-th that is sent. It pays the order [`Deal::paid_by`]`(k)`: orders are paid roughly,
//! not exactly, in the order in which they were placed. Ids are shaped like Stripe's: they begin with a coarse time
//! and end in random text. It knows no signature, speaks to no database, and knows none of paidonce's types.

pub mod statement;

use std::fmt::Write as _;

/// The source's name, as in `/in/shop`.
pub const SOURCE: &str = "shop";
/// Provider, account and mode, as in the ledger's `account` columns.
pub const ACCOUNT: &str = "stripe/acme/live";
/// The middle part of [`ACCOUNT`].
pub const ACCOUNT_NAME: &str = "acme";
/// What everything is priced in.
pub const CURRENCY: &str = "EUR";
/// The type of every notification.
pub const KIND: &str = "payment_intent.succeeded";
/// The webhook secret of every side.
pub const SECRET: &str = "whsec_bench_5f3c1d0e9b7a48266c1f";

/// 2026-11-30T00:00:00Z: when the first order of the world is placed.
const EPOCH_UNIX_S: u64 = 1_795_996_800;
/// Orders, or notifications, that share a second in their ids.
const PER_SECOND: u64 = 50;
/// Within so many orders, payments come in any sequence.
pub const WINDOW: u64 = 4096;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// An order and the payment that will serve it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deal(pub u64);

impl Deal {
    /// The deal that notification `k` of `all` is about. A permutation of `0..all`.
    #[must_use]
    pub fn paid_by(k: u64, all: u64) -> Self {
        let start = k / WINDOW * WINDOW;
        if start + WINDOW > all {
            return Self(k);
        }
        // An odd factor is invertible modulo a power of two.
        Self(start + ((k - start) * 1365 + 7) % WINDOW)
    }

    /// The merchant's order id.
    #[must_use]
    pub fn order(self) -> String {
        format!("W-{:09}", 100_000_000 + self.0)
    }

    /// The customer.
    #[must_use]
    pub fn customer(self) -> String {
        format!("cus_{}", random(self.0 % 20_000, 1, 14))
    }

    /// The hint that paidonce issued.
    #[must_use]
    pub fn hint(self) -> String {
        format!("po_{}", random(self.0, 2, 26))
    }

    /// The payment intent, registered for the order when it was placed.
    #[must_use]
    pub fn intent(self) -> String {
        format!("pi_3{}", time_led(self.0, 3))
    }

    /// The charge of the intent.
    #[must_use]
    pub fn charge(self) -> String {
        format!("ch_3{}", time_led(self.0, 4))
    }

    /// What is owed and paid, in cents.
    #[must_use]
    pub fn amount_minor(self) -> u32 {
        u32::try_from(1_000 + self.0 % 5_000).unwrap_or(1_000)
    }
}

/// The id of notification `k`.
#[must_use]
pub fn event(k: u64) -> String {
    format!("evt_1{}", time_led(k, 5))
}

/// The body of notification `k` of `all`: what Stripe sends for a paid intent, without optional nulls; 1.3 KB.
#[must_use]
pub fn body(k: u64, all: u64) -> String {
    let deal = Deal::paid_by(k, all);
    let (event, intent, charge) = (event(k), deal.intent(), deal.charge());
    let (order, customer, amount) = (deal.order(), deal.customer(), deal.amount_minor());
    let created = EPOCH_UNIX_S + deal.0 / PER_SECOND;
    let (method, secret, key) = (random(k, 6, 24), random(k, 7, 25), random(k, 8, 12));
    format!(
        r#"{{"id":"{event}","object":"event","api_version":"2024-06-20","created":{created},"data":{{"object":{{"id":"{intent}","object":"payment_intent","amount":{amount},"amount_capturable":0,"amount_details":{{"tip":{{}}}},"amount_received":{amount},"application":null,"application_fee_amount":null,"automatic_payment_methods":{{"allow_redirects":"always","enabled":true}},"canceled_at":null,"cancellation_reason":null,"capture_method":"automatic_async","client_secret":"{intent}_secret_{secret}","confirmation_method":"automatic","created":{created},"currency":"eur","customer":"{customer}","description":"Order {order}","invoice":null,"last_payment_error":null,"latest_charge":"{charge}","livemode":true,"metadata":{{"order_id":"{order}"}},"next_action":null,"on_behalf_of":null,"payment_method":"pm_1{method}","payment_method_options":{{"card":{{"request_three_d_secure":"automatic"}}}},"payment_method_types":["card","link"],"receipt_email":null,"setup_future_usage":null,"shipping":null,"statement_descriptor":null,"status":"succeeded","transfer_data":null,"transfer_group":null}}}},"livemode":true,"pending_webhooks":1,"request":{{"id":"req_{key}","idempotency_key":"{key}-{secret}"}},"type":"payment_intent.succeeded"}}"#
    )
}

/// Seconds, then the account's part, then random text, as in Stripe's ids.
fn time_led(n: u64, salt: u64) -> String {
    let mut seconds = EPOCH_UNIX_S + n / PER_SECOND;
    let mut digits = [0_u8; 6];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[usize::try_from(seconds % 62).unwrap_or(0)];
        seconds /= 62;
    }
    let mut text: String = digits.iter().map(|digit| char::from(*digit)).collect();
    let _ = write!(text, "LkdIwHu7{}", random(n, salt, 9));
    text
}

/// `length` characters that look random and are a function of `n` and `salt`.
fn random(n: u64, salt: u64, length: usize) -> String {
    let mut state = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ salt.wrapping_mul(0xD1B5_4A32_D192_ED03);
    let next = || {
        // splitmix64
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        char::from(BASE62[usize::try_from((z ^ (z >> 31)) % 62).unwrap_or(0)])
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_deal_is_paid_once() {
        for all in [1, 4_095, 4_096, 10_000] {
            let paid: BTreeSet<_> = (0..all).map(|k| Deal::paid_by(k, all).0).collect();
            assert_eq!(paid, (0..all).collect());
        }
    }

    #[test]
    fn ids_differ_and_lead_with_time() {
        let ids: BTreeSet<_> = (0..20_000).map(event).collect();
        assert_eq!(ids.len(), 20_000);
        assert!(event(0) < event(1_000));
        assert_eq!(event(0).len(), "evt_1NG8Du2eZvKYlo2CUI79vXWy".len());
    }

    #[test]
    fn bodies_are_as_long_as_stripes() {
        assert!((1_250..1_450).contains(&body(77, 100).len()), "{}", body(77, 100).len());
    }
}
