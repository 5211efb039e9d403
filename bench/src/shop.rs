//! The naive sides' HTTP half: the same axum handler whatever the database. It verifies the signature over the raw body,
//! reads it with serde_json, and answers 200 after the commit. It does not know what an admission writes.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use bytes::Bytes;
use paidonce_workload::SECRET;

use crate::admission::Notification;
use crate::arguments::Arguments;
use crate::signature::{Signer, now_unix_s};

/// An error as a sentence.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A pool of connections that admits one notification in one transaction.
pub trait Pool: Send + Sync + 'static {
    /// Commits, or says why not. A duplicate is no error.
    fn admit(&self, notification: &Notification) -> impl Future<Output = sqlx::Result<()>> + Send;
}

struct Shop<P> {
    pool: P,
    signer: Signer,
}

async fn webhook<P: Pool>(
    State(shop): State<Arc<Shop<P>>>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    let header = headers.get("stripe-signature").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !shop.signer.verify(header, &body, now_unix_s()) {
        return (StatusCode::UNAUTHORIZED, String::new());
    }
    let Ok(notification) = Notification::read(&body) else {
        return (StatusCode::BAD_REQUEST, String::new());
    };
    match shop.pool.admit(&notification).await {
        Ok(()) => (StatusCode::OK, String::new()),
        // Only a benchmark may tell a stranger; the load generator prints the first.
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// Serves until the process is ended, on as many threads as paidonce has.
///
/// # Errors
/// The pool cannot be opened, or the address of `--listen` is taken.
pub fn serve<P: Pool>(open: impl AsyncFnOnce(&Arguments) -> Result<P, Failure>) -> Result<(), Failure> {
    let arguments = Arguments::own();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let shop = Arc::new(Shop { pool: open(&arguments).await?, signer: Signer::new(SECRET) });
        let router = Router::new().route("/in/shop", post(webhook::<P>)).with_state(shop);
        let listener = tokio::net::TcpListener::bind(arguments.text("listen")?).await?;
        axum::serve(listener, router).await?;
        Ok(())
    })
}
