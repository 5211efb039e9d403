//! Who claims: another text for every claim, and never the text of another process or of another start.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use paidonce_ledger::Owner;

/// The owners of one process, from its start to its end. Shared by its workers.
#[derive(Debug)]
pub struct Owners {
    identity: String,
    next: AtomicU64,
}

impl Owners {
    /// `identity` must be unique for each start of a process: at most 200 bytes, no control characters.
    ///
    /// # Errors
    /// It is no such text.
    pub fn new(identity: impl Into<String>) -> Result<Self, String> {
        let identity = identity.into();
        if identity.len() > 200 {
            return Err("an identity has at most 200 bytes".to_owned());
        }
        Owner::new(&identity).map_err(|error| error.to_string())?;
        Ok(Self { identity, next: AtomicU64::new(1) })
    }

    /// An owner that no claim had before.
    #[must_use]
    pub fn next(&self) -> Owner {
        let number = self.next.fetch_add(1, Relaxed);
        Owner::new(format!("{}/{number}", self.identity)).expect("a checked text and a number are an id")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_claims_have_one_owner() {
        let owners = Owners::new("host-1").unwrap();
        assert_eq!(owners.next().as_str(), "host-1/1");
        assert_eq!(owners.next().as_str(), "host-1/2");
        assert!(Owners::new("x".repeat(201)).is_err());
        assert!(Owners::new("").is_err());
    }
}
