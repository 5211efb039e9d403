//! MariaDB (or MySQL), in a database of its own for each test. Commits are broken by triggers that a second connection makes.

mod join;
mod open;
mod others;
mod scan;
mod server;

use std::sync::OnceLock;

use paidonce_store::conformance::{Break, Broken, Harness};
use paidonce_store::{MysqlOptions, MysqlStore, Store};

use self::server::Database;

#[derive(Default)]
struct Mysql {
    database: OnceLock<Database>,
}

struct Trigger<'a>(&'a Database);

impl Broken for Trigger<'_> {}
impl Drop for Trigger<'_> {
    fn drop(&mut self) {
        self.0.execute(&format!("DROP TRIGGER {}.breaks", self.0.name));
    }
}

impl Harness for Mysql {
    fn missing(&self) -> Option<String> {
        server::missing()
    }

    fn fresh(&self) -> Box<dyn Store> {
        if let Some(database) = self.database.get() {
            database.clear();
        }
        self.second().expect("the server takes many connections")
    }

    fn second(&self) -> Option<Box<dyn Store>> {
        let database = self.database.get_or_init(Database::default);
        Some(Box::new(MysqlStore::open(&database.url(), MysqlOptions::default()).unwrap()))
    }

    fn break_at<'a>(&'a self, _store: &'a dyn Store, at: Break) -> Box<dyn Broken + 'a> {
        let table = match at {
            Break::Task => "task",
            Break::Entitlement => "entitlement",
            Break::Event => "event",
        };
        let database = self.database.get().unwrap();
        database.execute(&format!(
            "CREATE TRIGGER {0}.breaks AFTER INSERT ON {0}.paidonce_{table} FOR EACH ROW
                SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'broken on purpose'",
            database.name
        ));
        Box::new(Trigger(database))
    }
}

paidonce_store::conformance_tests!(Mysql::default());
