//! Rows of another store, put here as they are. Nothing is derived from them: whoever imports checks the whole
//! ledger's invariants before the first row and after the last.

use crate::command::Import;
use crate::key::Need;
use crate::ledger::{Ledger, Row};
use crate::reply::{Refusal, Reply};

/// All rows that are not there yet, or none if one is there with other content: an import never overwrites.
pub(super) fn import(ledger: &mut Ledger, command: &Import) -> Result<Reply, Need> {
    for key in command.rows.iter().filter_map(Row::aggregate) {
        ledger.require(key)?;
    }
    if command.rows.iter().any(|row| ledger.holds(row) == Some(false)) {
        return Ok(Reply::Refused(Refusal::RowDiffers));
    }
    for row in &command.rows {
        if ledger.holds(row).is_none() {
            ledger.put_row(row);
        }
    }
    Ok(Reply::Done)
}
