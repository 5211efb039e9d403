//! Sample bodies: what a delivery would become if it were genuine, for whoever writes a contract.
//!
//! What it gives is shown and never decided on: the program's only use of it is `paidonce contract read`.

use super::{Delivery, Received, read};
use crate::contract::Contract;
use crate::contract::plan::IdRule;

/// What stands for the signed header that would hold the id.
const SAMPLE_ID: &[u8] = b"sample";

impl Contract {
    /// Reads a body that nobody has verified. An id that a header would hold is `sample`.
    ///
    /// Never submit what it gives: only [`crate::Verified::read`] says anything about the world.
    #[must_use]
    pub fn read_sample(&self, body: &[u8]) -> Delivery {
        let headers = match self.plan().id {
            IdRule::Header { index, .. } => vec![SAMPLE_ID; index + 1],
            IdRule::Member(_) | IdRule::Derived(..) | IdRule::Body | IdRule::None => Vec::new(),
        };
        read(self.plan(), body, Received { headers: &headers, at_unix_s: 0 })
    }
}
