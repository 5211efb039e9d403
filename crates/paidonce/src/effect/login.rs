//! How a server is told who asks.

use paidonce_contracts::Secret;

/// A name and a password.
#[derive(Debug, Clone)]
pub struct Login {
    /// The name.
    pub user: String,
    /// The password.
    pub password: Secret,
}
