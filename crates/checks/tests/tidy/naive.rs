//! The naive sides of the benchmarks still fit the product's tables: each of their statements runs, and each column that
//! is compared after a run is there. (The benchmarks themselves are no tests: nobody would notice for weeks.)

// What a test prints is for whoever runs it.
#![allow(clippy::print_stderr)]

use paidonce_checks::database::{Backend, Database};
use paidonce_checks::{preload, rows};
use paidonce_workload::statement::{MYSQL, POSTGRES, SQLITE, Statements};

/// How many values a statement takes.
fn values(sql: &str) -> usize {
    let numbered = |mark: &str| (1..=20).rev().find(|n| sql.contains(&format!("{mark}{n}")));
    numbered("$").or_else(|| numbered("?")).unwrap_or_else(|| sql.matches('?').count())
}

/// Runs a statement with 1 for every value, which every type takes: a column that must be given and is not is an error.
fn runs(database: &Database, sql: &str) {
    let n = values(sql);
    let ran = match database {
        Database::File(path) => {
            let connection = rusqlite::Connection::open(path).expect("the store made the file");
            let mut statement = connection.prepare(sql).expect(sql);
            statement
                .query(rusqlite::params_from_iter(vec!["1"; n]))
                .and_then(|mut rows| rows.next().map(|_| ()))
                .map_err(Into::into)
        }
        Database::Server(_) if database.backend() == Backend::Postgres => database
            .texts(&format!("PREPARE one AS {sql}; EXECUTE one ({})", vec!["'1'"; n].join(", ")))
            .map(|_| ()),
        Database::Server(_) => {
            let (text, given) = (sql.replace('\'', "''"), vec!["@one"; n].join(", "));
            database
                .texts(&format!("SET @one = '1'; PREPARE one FROM '{text}'; EXECUTE one USING {given}"))
                .map(|_| ())
        }
    };
    if let Err(error) = ran {
        panic!("{error}, by\n{sql}");
    }
}

fn fit(backend: Backend, statements: &Statements) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let made = Database::new(backend, folder.path(), &format!("fit_{}", std::process::id()));
    let database = match made {
        Ok(database) => database,
        Err(error) => {
            let required = std::env::var("PAIDONCE_TEST_REQUIRE").is_ok_and(|value| value == "1");
            assert!(!required, "{} is required, and {error}", backend.name());
            eprintln!("SKIPPED naive statements on {}: {error}", backend.name());
            return;
        }
    };
    drop(preload::open(&database).expect("the store opens"));
    statements.each().for_each(|sql| runs(&database, sql));
    // Both read every column that they compare. What the statements left is no admission: it is held, not counted.
    assert_eq!(rows::sample(&database, 1).expect("the columns are there"), "");
    assert!(
        rows::count(&database, 99, true).expect_err("there are fewer").to_string().contains("99 admissions")
    );
    database.remove().expect("nobody uses it");
}

#[test]
fn what_the_naive_sides_say_fits_sqlite() {
    fit(Backend::Sqlite, &SQLITE);
}

#[test]
fn what_the_naive_sides_say_fits_postgres() {
    fit(Backend::Postgres, &POSTGRES);
}

#[test]
fn what_the_naive_sides_say_fits_mariadb() {
    fit(Backend::Mysql, &MYSQL);
}
