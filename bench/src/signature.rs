//! Stripe's signature, as a careful developer writes it by hand.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// How old a signature may be, in seconds.
const AGE_MAX_S: u64 = 300;

/// Signs and verifies with one secret. The key is prepared once.
#[derive(Clone)]
pub struct Signer(Hmac<Sha256>);

impl Signer {
    /// With this secret.
    ///
    /// # Panics
    /// Never: HMAC takes a key of any length.
    #[must_use]
    pub fn new(secret: &str) -> Self {
        Self(Hmac::new_from_slice(secret.as_bytes()).expect("HMAC takes a key of any length"))
    }

    fn mac(&self, timestamp: &str, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(timestamp.as_bytes());
        mac.update(b".");
        mac.update(body);
        mac
    }

    /// The header's value.
    #[must_use]
    pub fn sign(&self, body: &[u8], now_unix_s: u64) -> String {
        let timestamp = now_unix_s.to_string();
        let mac = self.mac(&timestamp, body).finalize().into_bytes();
        format!("t={timestamp},v1={}", hex::encode(mac))
    }

    /// Whether the header is genuine and fresh. Compares in constant time.
    #[must_use]
    pub fn verify(&self, header: &str, body: &[u8], now_unix_s: u64) -> bool {
        let mut timestamp = None;
        let mut candidates = Vec::new();
        for part in header.split(',') {
            match part.split_once('=') {
                Some(("t", text)) => timestamp = Some(text),
                Some(("v1", text)) => candidates.extend(hex::decode(text)),
                _ => {}
            }
        }
        let Some(timestamp) = timestamp else { return false };
        let fresh = timestamp.parse().is_ok_and(|signed: u64| now_unix_s.saturating_sub(signed) <= AGE_MAX_S);
        let mac = self.mac(timestamp, body);
        fresh && candidates.iter().any(|candidate| mac.clone().verify_slice(candidate).is_ok())
    }
}

/// Seconds since the Unix epoch.
#[must_use]
pub fn now_unix_s() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_signed_is_genuine_and_nothing_else_is() {
        let signer = Signer::new("whsec_test");
        let header = signer.sign(b"{}", 1_000);
        assert!(signer.verify(&header, b"{}", 1_300));
        assert!(!signer.verify(&header, b"{ }", 1_000));
        assert!(!signer.verify(&header, b"{}", 1_301));
        assert!(!Signer::new("whsec_other").verify(&header, b"{}", 1_000));
        assert!(!signer.verify("t=1000", b"{}", 1_000));
    }
}
