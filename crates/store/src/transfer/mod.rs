//! A whole ledger on its way from one store to another, as lines: a line that names the format, one for each row, and a
//! line with their number and digest. It knows no files and no terminal.

mod export;
mod import;
mod read;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use self::export::export;
pub use self::import::{ImportError, ImportOptions, Imported, import};
pub use self::read::{Export, FileError, read};

/// The version that is written. Every version that was ever released is read for ever.
const VERSION: u32 = 1;

/// What the first line says it is.
const FORMAT: &str = "paidonce-export";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct First {
    format: String,
    version: u32,
    rows: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Last {
    end: Summary,
}

/// What a whole export comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// How many rows.
    pub rows: usize,
    /// SHA-256 over all lines of rows, in hexadecimal digits.
    pub digest: String,
}

/// Sums up lines of rows.
#[derive(Default)]
struct Sum {
    rows: usize,
    hash: Sha256,
}

impl Sum {
    /// With its line feed.
    fn add(&mut self, line: &[u8]) {
        self.rows += 1;
        self.hash.update(line);
    }

    fn finish(self) -> Summary {
        let digest = self.hash.finalize();
        Summary { rows: self.rows, digest: digest.iter().map(|byte| format!("{byte:02x}")).collect() }
    }
}
