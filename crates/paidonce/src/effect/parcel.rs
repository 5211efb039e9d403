//! The stored form of what is sent: a head that says where it goes, as one line of JSON, then the bytes themselves.
//!
//! One byte string holds all that a try needs, so a later change of the configuration changes no message (P11).

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A head and the bytes that follow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel<H> {
    /// Where it goes, and what goes beside it.
    pub head: H,
    /// What the receiver gets, byte for byte.
    pub content: Vec<u8>,
}

impl<H: Serialize + DeserializeOwned> Parcel<H> {
    /// Writes it.
    ///
    /// # Errors
    /// The head is no JSON, which none of this crate's is.
    pub fn pack(&self) -> Result<Vec<u8>, String> {
        let mut bytes = serde_json::to_vec(&self.head).map_err(|error| format!("the head: {error}"))?;
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.content);
        Ok(bytes)
    }

    /// Reads what [`Parcel::pack`] wrote.
    ///
    /// # Errors
    /// It was written by something else.
    pub fn unpack(bytes: &[u8]) -> Result<Self, String> {
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or("the stored request has no head")?;
        let head = serde_json::from_slice(&bytes[..end])
            .map_err(|error| format!("the stored request's head cannot be read: {error}"))?;
        Ok(Self { head, content: bytes[end + 1..].to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_unpacked_byte_for_byte() {
        let parcel = Parcel { head: vec!["a\nb".to_owned()], content: b"\n\0\xff\n".to_vec() };
        assert_eq!(Parcel::unpack(&parcel.pack().unwrap()).unwrap(), parcel);
        assert!(Parcel::<Vec<String>>::unpack(b"[]").unwrap_err().contains("no head"));
        assert!(Parcel::<Vec<String>>::unpack(b"{}\n").unwrap_err().contains("cannot be read"));
    }
}
