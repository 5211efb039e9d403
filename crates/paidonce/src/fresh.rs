//! Randomness: ids that nobody can guess, and API keys. The only place of the program that asks for it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use paidonce_ledger::{CommandId, Digest, Hint, OrderId};

/// 32 characters that people do not mistake for one another (Crockford's), in lower case.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// How many of them: 130 random bits.
const LENGTH: usize = 26;

/// The characters of an API key's text after `pk_`: 256 random bits.
const KEY_BYTES: usize = 32;

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

fn text(prefix: &str) -> String {
    let characters = random::<LENGTH>().into_iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)]));
    prefix.chars().chain(characters).collect()
}

/// An order id: `ord_` and 26 characters.
#[must_use]
pub fn order_id() -> OrderId {
    OrderId::new(text("ord_")).expect("a short plain text is an id")
}

/// A hint for a provider's metadata: `po_` and 26 characters.
#[must_use]
pub fn hint() -> Hint {
    Hint::new(text("po_")).expect("a short plain text is an id")
}

/// A command id of its own, for a request without an idempotency key.
#[must_use]
pub fn command_id() -> CommandId {
    CommandId::new(text("cmd_")).expect("a short plain text is an id")
}

/// The command id of an idempotency key: the same for every retry, and another for every client and route.
#[must_use]
pub fn keyed_command_id(by: &str, route: &str, key: &str) -> CommandId {
    let digest = Digest::of_parts([by.as_bytes(), route.as_bytes(), key.as_bytes()]);
    CommandId::new(digest.to_hex()).expect("a short plain text is an id")
}

/// Who a process is, from its start to its end: `p_` and 26 characters.
#[must_use]
pub fn identity() -> String {
    text("p_")
}

/// An API key that was just made. Its text is shown once and kept nowhere.
pub struct NewKey {
    /// `pk_` and 43 characters.
    pub text: String,
    /// What is kept of it.
    pub digest: Digest,
}

/// Makes an API key.
#[must_use]
pub fn api_key() -> NewKey {
    let text = format!("pk_{}", URL_SAFE_NO_PAD.encode(random::<KEY_BYTES>()));
    NewKey { digest: Digest::of_bytes(text.as_bytes()), text }
}
