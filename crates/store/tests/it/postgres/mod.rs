//! Postgres, in a schema of its own for each test. Commits are broken by triggers that a second connection makes.

mod join;
mod open;
mod others;
mod scan;
pub(crate) mod server;

use std::sync::OnceLock;

use paidonce_store::conformance::{Break, Broken, Harness};
use paidonce_store::{PostgresStore, Store};

use self::server::Schema;

#[derive(Default)]
struct Postgres {
    schema: OnceLock<Schema>,
}

struct Trigger<'a>(&'a Schema, &'static str);

impl Broken for Trigger<'_> {}
impl Drop for Trigger<'_> {
    fn drop(&mut self) {
        self.0.execute(&format!("DROP TRIGGER breaks ON {}.{}", self.0.name, self.1));
    }
}

impl Harness for Postgres {
    fn missing(&self) -> Option<String> {
        server::missing()
    }

    fn fresh(&self) -> Box<dyn Store> {
        if let Some(schema) = self.schema.get() {
            schema.clear();
        }
        self.second().expect("Postgres takes many connections")
    }

    fn second(&self) -> Option<Box<dyn Store>> {
        let schema = self.schema.get_or_init(Schema::default);
        Some(Box::new(PostgresStore::open(&server::url(), schema.options()).unwrap()))
    }

    fn break_at<'a>(&'a self, _store: &'a dyn Store, at: Break) -> Box<dyn Broken + 'a> {
        let table = match at {
            Break::Task => "task",
            Break::Entitlement => "entitlement",
            Break::Event => "event",
        };
        let schema = self.schema.get().unwrap();
        let name = &schema.name;
        schema.execute(&format!(
            "CREATE OR REPLACE FUNCTION {name}.breaks() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'broken on purpose'; END $$;
            CREATE TRIGGER breaks AFTER INSERT ON {name}.{table} FOR EACH ROW EXECUTE FUNCTION {name}.breaks()"
        ));
        Box::new(Trigger(schema, table))
    }
}

paidonce_store::conformance_tests!(Postgres::default());
