//! A database in a file: copied as a file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::Texts;

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

pub(super) fn has_log(path: &Path) -> bool {
    beside(path, "-wal").exists()
}

pub(super) fn copy(path: &Path, name: &str) -> io::Result<PathBuf> {
    let copy = path.with_file_name(format!("{name}.db"));
    remove(&copy)?;
    fs::copy(path, &copy)?;
    File::open(&copy)?.sync_all()?;
    Ok(copy)
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        match fs::remove_file(beside(path, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn texts(path: &Path, sql: &str) -> rusqlite::Result<Texts> {
    // Not read-only: a killed server's log is recovered by whoever opens the file next.
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let text = |value: ValueRef<'_>| match value {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(n) => Some(n.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    };
    let rows = statement.query_map([], |row| (0..columns).map(|at| row.get_ref(at).map(text)).collect())?;
    rows.collect()
}
