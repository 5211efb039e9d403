//! The buyer's token of an order: derived from the idempotency key with the server's secret, again for each retry, and
//! kept nowhere. What an order keeps of it is a MAC. P12, P14

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use paidonce_ledger::{CommandId, Digest, OrderId, OrderToken, SecretId};
use sha2::Sha256;

/// A secret has at least so many bytes: with fewer, its id could be searched for it.
pub const TOKEN_SECRET_BYTES_MIN: usize = 32;

/// What every token begins with.
const PREFIX: &str = "ot_";

/// Bytes of a token's secret part.
const TAG_BYTES: usize = 32;

/// What each MAC is for. None can stand for another.
const ID: &str = "paidonce: the secret's id";
const ISSUED: &str = "paidonce: an order's token";
const KEPT: &str = "paidonce: what an order keeps of its token";

/// The server's secrets for tokens, the current one first. None: no tokens are issued.
#[derive(Clone, Default)]
pub struct Tokens(Vec<(SecretId, Hmac<Sha256>)>);

/// A token that somebody has shown. It proves nothing until it [fits](Tokens::fits).
pub(crate) struct Shown {
    /// The order it is about.
    pub(crate) order: OrderId,
    tag: [u8; TAG_BYTES],
}

fn mac(key: &Hmac<Sha256>, what: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
    let digest = Digest::of_parts([what.as_bytes()].into_iter().chain(parts.iter().copied()));
    let mut mac = key.clone();
    mac.update(&digest.0);
    mac
}

impl Tokens {
    /// Takes the secrets' texts, the current one first.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let keyed = |secret: &str| {
            let key = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes any length");
            let id = Digest(mac(&key, ID, &[]).finalize().into_bytes().into()).to_hex()[..12].to_owned();
            (SecretId::new(id).expect("hexadecimal digits are an id"), key)
        };
        Self(secrets.into_iter().map(keyed).collect())
    }

    fn tag(&self, secret: &SecretId, command: &CommandId, key: &str) -> Option<[u8; TAG_BYTES]> {
        let (_, secret) = self.0.iter().find(|(id, _)| id == secret)?;
        // The command's id is the key with its client and route; the key itself is stored nowhere.
        let parts = [command.as_str().as_bytes(), key.as_bytes()];
        Some(mac(secret, ISSUED, &parts).finalize().into_bytes().into())
    }

    /// What a new order keeps of the token of this request, under the current secret.
    #[must_use]
    pub fn keep(&self, command: &CommandId, key: &str) -> Option<OrderToken> {
        let (id, secret) = self.0.first()?;
        let tag = self.tag(id, command, key)?;
        let mac = mac(secret, KEPT, &[&tag]).finalize().into_bytes().into();
        Some(OrderToken { secret: id.clone(), mac: Digest(mac) })
    }

    /// The token of a request that was answered, under the secret that it was first answered with; `None` if that is
    /// retired.
    #[must_use]
    pub fn issue(
        &self,
        secret: &SecretId,
        command: &CommandId,
        key: &str,
        order: &OrderId,
    ) -> Option<String> {
        let tag = self.tag(secret, command, key)?;
        Some(format!("{PREFIX}{}.{}", URL_SAFE_NO_PAD.encode(order.as_str()), URL_SAFE_NO_PAD.encode(tag)))
    }

    /// Whether a token is the one of which an order keeps this. Compared in constant time.
    pub(crate) fn fits(&self, shown: &Shown, kept: Option<&OrderToken>) -> bool {
        let Some(kept) = kept else { return false };
        let Some((_, secret)) = self.0.iter().find(|(id, _)| *id == kept.secret) else { return false };
        mac(secret, KEPT, &[&shown.tag]).verify_slice(&kept.mac.0).is_ok()
    }
}

impl Shown {
    /// Reads a token's text; `None` if it is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (order, tag) = text.strip_prefix(PREFIX)?.split_once('.')?;
        let order = OrderId::new(String::from_utf8(URL_SAFE_NO_PAD.decode(order).ok()?).ok()?).ok()?;
        Some(Self { order, tag: URL_SAFE_NO_PAD.decode(tag).ok()?.try_into().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
        text.parse().unwrap()
    }

    #[test]
    fn a_token_is_derived_again_and_known_again_until_its_secret_is_retired() {
        let (old, new) = (Tokens::new(["an old secret"]), Tokens::new(["a new one", "an old secret"]));
        let (command, order) = (id::<CommandId>("c"), id::<OrderId>("a/b ü"));
        let kept = old.keep(&command, "key").unwrap();
        let token = old.issue(&kept.secret, &command, "key", &order).unwrap();
        assert_eq!(new.issue(&kept.secret, &command, "key", &order).as_deref(), Some(&*token));
        let shown = Shown::parse(&token).unwrap();
        assert_eq!(shown.order, order);
        assert!(old.fits(&shown, Some(&kept)) && new.fits(&shown, Some(&kept)));
        assert_ne!(new.keep(&command, "key").unwrap().secret, kept.secret);
        let retired = Tokens::new(["a new one"]);
        assert!(!retired.fits(&shown, Some(&kept)) && !new.fits(&shown, None));
        assert_eq!(retired.issue(&kept.secret, &command, "key", &order), None);
    }

    #[test]
    fn another_key_client_or_order_has_another_token() {
        let tokens = Tokens::new(["a secret"]);
        let kept = tokens.keep(&id("c"), "key").unwrap();
        for (command, key) in [("c", "kez"), ("d", "key")] {
            let other = tokens.issue(&kept.secret, &id(command), key, &id("o")).unwrap();
            assert!(!tokens.fits(&Shown::parse(&other).unwrap(), Some(&kept)), "{command} {key}");
        }
        for text in ["", "ot_", "ot_bw", "ot_bw.AAAA", "ot_!.AAAA", "pk_bw.AAAA"] {
            assert!(Shown::parse(text).is_none(), "{text}");
        }
    }
}
