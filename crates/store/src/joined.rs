//! A command inside the caller's own transaction: the dedupe record, the order and the caller's rows commit together.

use paidonce_ledger::Reply;

/// What became of a command in the caller's transaction. Nothing is durable before the caller commits, and no reply may
/// leave before that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joined {
    /// It was executed. Commit, and then answer.
    Done(Reply),
    /// Another writer was faster. Nothing of the command is in the transaction: roll it back, begin again from the
    /// start, and read everything again. (After a deadlock some servers have rolled it back already.)
    Retry,
}
