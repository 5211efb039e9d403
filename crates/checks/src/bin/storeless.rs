//! `paidonce serve` on a store that keeps nothing: the whole of the server but the database, as its ceiling.
//!
//! It verifies, reads, queues and answers as the real one does. Never part of the product: it acknowledges what it
//! does not keep.

use std::path::Path;
use std::sync::Arc;

use paidonce::clock::SystemClock;
use paidonce::config::Config;
use paidonce::serve::Server;
use paidonce_checks::arguments::Arguments;
use paidonce_ledger::{
    ApiKey, Attempt, Audit, AuditKey, Case, CaseKey, Command, Digest, Entitlement, Event, EventKey,
    EventReply, KeyName, Keys, Ledger, OrderId, Policy, Product, Received, Reply, Sku, Task, TaskKey,
    Timestamp, Unit,
};
use paidonce_store::{
    AuditFilter, Bodies, CaseFilter, Counts, Due, EntitlementFilter, EventFilter, Listed, OldBodies,
    OrderFilter, Page, Result, Stale, Store, TaskFilter,
};

struct Nothing;

fn accepted(command: &Command) -> Reply {
    let Command::Receive(receive) = command else { return Reply::KeyChanged };
    let accepted = |event| EventReply { event, received: Received::Accepted, order: None };
    Reply::Received(receive.notices.iter().map(|notice| accepted(notice.id.clone())).collect())
}

fn none<T>() -> Listed<T> {
    Listed { rows: Vec::new(), next: None }
}

impl Store for Nothing {
    fn commit(&self, batch: &[Command], _: Timestamp, _: &Policy) -> Result<Vec<Reply>> {
        Ok(batch.iter().map(accepted).collect())
    }

    fn load(&self, _: &Keys) -> Result<Ledger> {
        Ok(Ledger::whole())
    }

    fn snapshot(&self) -> Result<Ledger> {
        Ok(Ledger::whole())
    }

    fn due(&self, _: &Due, _: Timestamp, _: usize) -> Result<Vec<TaskKey>> {
        Ok(Vec::new())
    }

    fn stale(&self, _: &Stale) -> Result<Keys> {
        Ok(Keys::new())
    }

    fn old_bodies(&self, wanted: &Bodies) -> Result<OldBodies> {
        Ok(OldBodies { events: Vec::new(), to: wanted.by })
    }

    fn attempts(&self, _: &TaskKey) -> Result<Vec<(u64, Attempt)>> {
        Ok(Vec::new())
    }

    fn task(&self, _: &str) -> Result<Option<(TaskKey, Task)>> {
        Ok(None)
    }

    fn orders(&self, _: &OrderFilter, _: &Page) -> Result<Listed<OrderId>> {
        Ok(none())
    }

    fn events(&self, _: &EventFilter, _: &Page) -> Result<Listed<(EventKey, Event)>> {
        Ok(none())
    }

    fn entitlements(
        &self,
        _: &EntitlementFilter,
        _: &Page,
    ) -> Result<Listed<((OrderId, Unit), Entitlement)>> {
        Ok(none())
    }

    fn cases(&self, _: &CaseFilter, _: &Page) -> Result<Listed<(CaseKey, Case)>> {
        Ok(none())
    }

    fn case(&self, _: &str) -> Result<Option<(CaseKey, Case)>> {
        Ok(None)
    }

    fn audits(&self, _: &AuditFilter, _: &Page) -> Result<Listed<(AuditKey, Audit)>> {
        Ok(none())
    }

    fn tasks(&self, _: &TaskFilter, _: &Page) -> Result<Listed<(TaskKey, Task)>> {
        Ok(none())
    }

    fn products(&self, _: &Page) -> Result<Listed<(Sku, Product)>> {
        Ok(none())
    }

    fn api_keys(&self) -> Result<Vec<(KeyName, ApiKey)>> {
        Ok(Vec::new())
    }

    fn api_key(&self, _: &Digest) -> Result<Option<(KeyName, ApiKey)>> {
        Ok(None)
    }

    fn counts(&self) -> Result<Counts> {
        Ok(Counts::default())
    }

    fn describe(&self) -> String {
        "nothing is kept".to_owned()
    }
}

async fn serve(config: &Config) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let server = Server::start_on(config, Arc::new(Nothing), Arc::new(SystemClock)).await?;
    paidonce::serve::signalled().await;
    server.stop().await;
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::own();
    let config = Config::load(Path::new(arguments.text("config")?))?;
    // As `paidonce serve` does.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(&config))
}
