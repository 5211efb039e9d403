//! LISTEN and NOTIFY: processes on one database tell each other that there is work. A hint and nothing more: whoever
//! does not hear it finds the work when it looks.
//!
//! It is told after the commit and beside it, by one thread: inside the transaction every commit of the database would
//! wait for the one before it, and here many commits are one notice. Only where the commit is the caller's own is it
//! told inside: nobody else learns when that takes place.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use sqlx::PgConnection;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::{Notify, watch};

/// Everybody listens here; the schema is in the notice, because it may be longer than a channel's name.
const CHANNEL: &str = "paidonce";

/// How long to leave a server in peace that cannot be listened to.
const REST: Duration = Duration::from_secs(5);

/// What is told. A server gives it out once, however often it is told in one transaction.
const NOTIFY: &str = "SELECT pg_notify($1, $2)";

/// Tells everybody of a schema when the transaction that `connection` is in commits, and nobody if it does not.
///
/// # Errors
/// The server refuses.
pub(super) async fn tell_at_commit(connection: &mut PgConnection, schema: &str) -> sqlx::Result<()> {
    let notify = sqlx::query(NOTIFY).bind(CHANNEL).bind(format!("{schema} joined"));
    notify.execute(connection).await.map(|_| ())
}

/// Tells and hears until it is dropped.
pub(super) struct Hints {
    told: Arc<Notify>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Hints {
    /// Begins on two connections of its own. `wake` is called for what others tell.
    ///
    /// # Errors
    /// The operating system gives no thread.
    pub(super) fn start(
        connect: PgConnectOptions,
        schema: &str,
        wake: Arc<dyn Fn() + Send + Sync>,
    ) -> std::io::Result<Self> {
        let (told, (stop, stopped)) = (Arc::new(Notify::new()), watch::channel(false));
        let line = Line { connect, schema: schema.to_owned(), told: told.clone(), wake };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new().name("postgres hints".to_owned());
        let thread = thread.spawn(move || runtime.block_on(line.run(stopped)))?;
        Ok(Self { told, stop, thread: Some(thread) })
    }

    /// Tells the others that there is work. Never waits.
    pub(super) fn tell(&self) {
        self.told.notify_one();
    }
}

impl Drop for Hints {
    fn drop(&mut self) {
        // Nobody listening any more has stopped as well.
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            // It never panics; if it did, there is nothing left to stop.
            let _ = thread.join();
        }
    }
}

struct Line {
    connect: PgConnectOptions,
    schema: String,
    told: Arc<Notify>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Line {
    async fn run(self, mut stopped: watch::Receiver<bool>) {
        let work = async {
            loop {
                // What broke the line is not told: what depends on it goes on, and says so itself if it cannot.
                let _ = self.hold().await;
                tokio::time::sleep(REST).await;
            }
        };
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => {}
            () = work => {}
        }
    }

    /// Listens and tells until the line breaks.
    async fn hold(&self) -> sqlx::Result<()> {
        let pool = PgPoolOptions::new().max_connections(2).connect_lazy_with(self.connect.clone());
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen(CHANNEL).await?;
        // Work may have come while nobody listened.
        (self.wake)();
        let (ours, others) = (format!("{} {:x}", self.schema, RandomState::new().hash_one(0)), &self.schema);
        loop {
            tokio::select! {
                () = self.told.notified() => {
                    let notify = sqlx::query(NOTIFY).bind(CHANNEL).bind(&ours);
                    notify.execute(&pool).await?;
                }
                heard = listener.try_recv() => {
                    // Reconnected: what was told meanwhile is lost.
                    let Some(notice) = heard? else { (self.wake)(); continue };
                    let schema = notice.payload().rsplit_once(' ').map(|(schema, _)| schema);
                    if schema == Some(others) && notice.payload() != ours {
                        (self.wake)();
                    }
                }
            }
        }
    }
}
