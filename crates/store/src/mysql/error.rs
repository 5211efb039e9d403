//! What an error of MariaDB or MySQL means for whoever asked. The number decides: two meanings share an SQLSTATE.

use sqlx::Error;
use sqlx::mysql::MySqlDatabaseError;

use crate::{StoreError, StoreErrorKind};

/// Of anything but a COMMIT.
pub(super) fn sql_error(error: Error) -> StoreError {
    let (kind, what) = match (number(&error), &error) {
        (Some(number), _) => of_number(number),
        (None, Error::ColumnDecode { .. } | Error::ColumnIndexOutOfBounds { .. } | Error::Decode(_)) => {
            (StoreErrorKind::Corrupt, "the server holds a column of another type than paidonce made")
        }
        (None, Error::Encode(_)) => (StoreErrorKind::Internal, "a value cannot be sent to the server"),
        (None, Error::Configuration(_)) => (StoreErrorKind::Unavailable, "the MySQL URL is not understood"),
        _ => (StoreErrorKind::Unavailable, "the connection to the MySQL server failed"),
    };
    StoreError::new(kind, what).caused_by(error)
}

/// Of a COMMIT: an answer that did not come says nothing about what was done.
pub(super) fn commit_error(error: Error) -> StoreError {
    // Stopped while it worked: server shutdown, killed, interrupted, out of time.
    let known = number(&error).is_some_and(|number| ![1053, 1317, 1927, 1969, 3024].contains(&number));
    if known {
        return sql_error(error);
    }
    let what = "the connection to the server was lost during a commit: whether it took place is not known";
    StoreError::new(StoreErrorKind::Unknown, what).caused_by(error)
}

pub(super) fn number(error: &Error) -> Option<u16> {
    let database = error.as_database_error()?;
    database.try_downcast_ref::<MySqlDatabaseError>().map(MySqlDatabaseError::number)
}

fn of_number(number: u16) -> (StoreErrorKind, &'static str) {
    match number {
        // deadlock; lock wait timeout (MariaDB's NOWAIT too); MySQL's NOWAIT; record changed since it was read
        1213 | 1205 | 3572 | 1020 => {
            (StoreErrorKind::Conflict, "others keep changing the same rows: try again")
        }
        // The one number that means a duplicate key.
        1062 => (StoreErrorKind::Conflict, "another writer inserted the same row first"),
        1317 | 1969 | 3024 => {
            (StoreErrorKind::Busy, "the server took too long for a statement, and was stopped")
        }
        1021 | 1041 | 1114 => {
            (StoreErrorKind::Full, "the server's disk is full: nothing was written; make room")
        }
        1290 | 1836 => (StoreErrorKind::Unavailable, "the server is read-only: is this a replica?"),
        1045 => (StoreErrorKind::Unavailable, "the server refuses the user or the password"),
        1049 => (StoreErrorKind::Unavailable, "there is no such database on the server"),
        1044 | 1142 | 1227 => {
            (StoreErrorKind::Unavailable, "the database's user may not do this: grant it the right")
        }
        1040 | 1053 | 1203 | 1927 => (StoreErrorKind::Unavailable, "the server is not available"),
        1054 | 1146 => {
            (StoreErrorKind::Corrupt, "paidonce's tables are not there: has the database been migrated?")
        }
        1034 | 1035 | 1194 | 1712 => {
            (StoreErrorKind::Corrupt, "the server reports damaged data: restore a backup")
        }
        _ => (StoreErrorKind::Internal, "the server refused a statement"),
    }
}
