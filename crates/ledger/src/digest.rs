//! SHA-256 over parts that are each preceded by their length, and bodies that are compared by digest.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use sha2::Digest as _;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of one byte string, as it is.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// The digest of several parts, each preceded by its length as 8 big-endian bytes,
    /// so that `("a:b", "c")` and `("a", "b:c")` differ.
    #[must_use]
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = sha2::Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn to_hex(self) -> String {
        self.to_string()
    }

    /// Reads 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let text = text.as_bytes();
        if text.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).ok()?;
            *byte = u8::from_str_radix(pair, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", &self.to_hex()[..12])
    }
}

/// A notification's raw bytes, kept exactly, shared, and compared by their digest.
#[derive(Clone)]
pub struct Body {
    bytes: Arc<[u8]>,
    digest: Digest,
}

impl Body {
    /// Keeps `bytes` and computes their digest.
    #[must_use]
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { digest: Digest::of_bytes(&bytes), bytes }
    }

    /// Keeps `bytes` under a digest that was computed earlier, by [`Body::new`].
    #[must_use]
    pub fn with_digest(bytes: impl Into<Arc<[u8]>>, digest: Digest) -> Self {
        Self { bytes: bytes.into(), digest }
    }

    /// The bytes as they came.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Their SHA-256.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}
impl Eq for Body {}
impl Hash for Body {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}
impl fmt::Debug for Body {
    // Never the bytes: they hold personal data. P14
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} bytes, {:?})", self.bytes.len(), self.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cannot_be_shifted_across_their_boundary() {
        let digest = |parts: &[&str]| Digest::of_parts(parts.iter().map(|p| p.as_bytes()));
        assert_ne!(digest(&["a:b", "c"]), digest(&["a", "b:c"]));
        assert_ne!(digest(&["ab", ""]), digest(&["a", "b"]));
        assert_ne!(digest(&["ab"]), digest(&["ab", ""]));
    }

    #[test]
    fn hex_round_trips() {
        let digest = Digest::of_bytes(b"x");
        assert_eq!(Digest::from_hex(&digest.to_hex()), Some(digest));
        assert_eq!(Digest::from_hex("zz"), None);
    }
}
