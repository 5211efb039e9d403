//! What an error of Postgres means for whoever asked.

use sqlx::Error;

use crate::{StoreError, StoreErrorKind};

/// Of anything but a COMMIT.
pub(super) fn sql_error(error: Error) -> StoreError {
    let (kind, what) = match &error {
        Error::Database(database) => of_code(database.code().as_deref().unwrap_or_default()),
        Error::ColumnDecode { .. } | Error::ColumnIndexOutOfBounds { .. } | Error::Decode(_) => {
            (StoreErrorKind::Corrupt, "Postgres holds a column of another type than paidonce made")
        }
        Error::Encode(_) | Error::TypeNotFound { .. } => {
            (StoreErrorKind::Internal, "a value cannot be sent to Postgres")
        }
        Error::Configuration(_) => (StoreErrorKind::Unavailable, "the Postgres URL is not understood"),
        _ => (StoreErrorKind::Unavailable, "the connection to Postgres failed"),
    };
    StoreError::new(kind, what).caused_by(error)
}

/// Of a COMMIT: an answer that did not come says nothing about what was done.
pub(super) fn commit_error(error: Error) -> StoreError {
    let known = match &error {
        // 57P: the server was told to stop, maybe after the commit.
        Error::Database(database) => !database.code().is_some_and(|code| code.starts_with("57P")),
        _ => false,
    };
    if known {
        return sql_error(error);
    }
    let what = "the connection to Postgres was lost during a commit: whether it took place is not known";
    StoreError::new(StoreErrorKind::Unknown, what).caused_by(error)
}

fn of_code(code: &str) -> (StoreErrorKind, &'static str) {
    match code {
        // serialization_failure, deadlock_detected, lock_not_available, unique_violation
        "40001" | "40P01" | "55P03" | "23505" => {
            (StoreErrorKind::Conflict, "others keep changing the same rows: try again")
        }
        "57014" => (StoreErrorKind::Busy, "Postgres took too long for a statement, and was stopped"),
        "53100" => (StoreErrorKind::Full, "Postgres's disk is full: nothing was written; make room"),
        "25006" => (StoreErrorKind::Unavailable, "Postgres is read-only: is this a standby?"),
        "28000" | "28P01" => (StoreErrorKind::Unavailable, "Postgres refuses the user or the password"),
        "3D000" => (StoreErrorKind::Unavailable, "there is no such database on the Postgres server"),
        "42501" => (StoreErrorKind::Unavailable, "the Postgres user may not do this: grant it the right"),
        "42P01" | "3F000" | "42703" => {
            (StoreErrorKind::Corrupt, "paidonce's tables are not there: has its schema been migrated?")
        }
        code if code.starts_with("XX") => {
            (StoreErrorKind::Corrupt, "Postgres reports damaged data: restore a backup")
        }
        code if ["08", "53", "57"].iter().any(|class| code.starts_with(class)) => {
            (StoreErrorKind::Unavailable, "Postgres is not available")
        }
        _ => (StoreErrorKind::Internal, "Postgres refused a statement"),
    }
}
