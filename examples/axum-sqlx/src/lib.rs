//! A shop in axum and sqlx on Postgres. What its handlers write and what paidonce writes is one transaction each: the
//! record that a notification was seen, the order's new standing, the grant, and the shop's own licence.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{post, put};
use axum::{Json, Router};
use paidonce_contracts::{Contract, Delivery, Secret, Verifier};
use paidonce_ledger::{
    Account, Command, CommandId, Customer, Fulfil, Granted, Hint, Line, Mode, Money, MoneyUnit, Name,
    NewReference, OrderId, PlaceOrder, Policy, Receive, ReferenceId, Reply, Sku, SourceName, Stamp, TaskKey,
    Timestamp, Unit,
};
use paidonce_store::{Joined, PostgresTables};
use serde::Deserialize;
use sqlx::{PgPool, Postgres, Transaction};

/// The shop's own table: whatever an application has.
const LICENCES: &str = "CREATE TABLE IF NOT EXISTS licence (order_id TEXT PRIMARY KEY, customer TEXT NOT NULL CHECK (customer <> ''))";

type Problem = Box<dyn std::error::Error + Send + Sync>;
type Answer = Result<StatusCode, (StatusCode, String)>;

/// The shop.
pub struct Shop {
    pool: PgPool,
    tables: PostgresTables,
    verifier: Verifier,
    account: Account,
    policy: Policy,
}

/// What is ordered.
#[derive(Debug, Deserialize)]
pub struct Cart {
    /// Who buys.
    pub customer: String,
    /// What.
    pub sku: String,
    /// The Stripe payment intent that was made for it.
    pub payment_intent: String,
    /// Euros, for example `19.90`.
    pub price: String,
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

impl Shop {
    /// Opens the database, and makes paidonce's tables and the shop's own where they are missing.
    ///
    /// # Errors
    /// The database or the secret cannot be used.
    pub async fn open(url: &str, webhook_secret: &str) -> Result<Arc<Self>, Problem> {
        let contract = Contract::builtin("stripe", None)?;
        let account =
            Account { provider: contract.provider().clone(), name: Name::new("main")?, mode: Mode::Test };
        let pool = PgPool::connect(url).await?;
        let tables = PostgresTables::new("paidonce");
        tables.migrate(&mut *pool.acquire().await?).await?;
        sqlx::query(LICENCES).execute(&pool).await?;
        let verifier = Verifier::new(&contract, &[Secret::new(webhook_secret.to_owned())])?;
        Ok(Arc::new(Self { pool, tables, verifier, account, policy: Policy::default() }))
    }

    /// The shop's routes.
    pub fn router(self: Arc<Self>) -> Router {
        Router::new().route("/orders/{id}", put(order)).route("/webhook", post(webhook)).with_state(self)
    }

    /// Takes an order. The caller of `execute_in` owns the loop: while others are faster, it begins again.
    async fn place(&self, order: &Command) -> Result<Reply, Problem> {
        loop {
            let mut transaction = self.pool.begin().await?;
            // The shop's own rows about the order would be written here.
            if let Some(reply) = self.execute(&mut transaction, order).await? {
                transaction.commit().await?;
                return Ok(reply);
            }
            transaction.rollback().await?;
        }
    }

    /// Takes in a notification, from the start again while others are faster.
    async fn receive(&self, receive: &Receive) -> Result<(), Problem> {
        loop {
            let mut transaction = self.pool.begin().await?;
            if self.receive_in(&mut transaction, receive).await?.is_some() {
                transaction.commit().await?;
                return Ok(());
            }
            transaction.rollback().await?;
        }
    }

    /// One command; `None` where everything must begin again.
    async fn execute(
        &self,
        transaction: &mut Transaction<'static, Postgres>,
        command: &Command,
    ) -> Result<Option<Reply>, Problem> {
        let joined = self.tables.execute_in(transaction, command, now(), &self.policy).await?;
        Ok(match joined {
            Joined::Done(reply) => Some(reply),
            Joined::Retry => None,
        })
    }

    /// Takes in a notification; what it made due is granted in the same transaction, with the shop's own row.
    async fn receive_in(
        &self,
        transaction: &mut Transaction<'static, Postgres>,
        receive: &Receive,
    ) -> Result<Option<()>, Problem> {
        let reply = self.execute(transaction, &Command::Receive(receive.clone())).await?;
        let Some(Reply::Received(events)) = reply else { return Ok(None) };
        for order in events.into_iter().filter_map(|event| event.order) {
            let grant = Command::Grant(TaskKey::grant(order.clone(), Unit::Order));
            match self.execute(transaction, &grant).await? {
                None => return Ok(None),
                Some(Reply::Granted(Granted::Now)) => {
                    let sql = "INSERT INTO licence SELECT order_id, coalesce(customer, '') FROM paidonce.entitlement
                        WHERE order_id = $1 AND unit = 'order'";
                    sqlx::query(sql).bind(order.as_str()).execute(&mut **transaction).await?;
                }
                // Granted before, or not to be granted (yet).
                Some(_) => {}
            }
        }
        Ok(Some(()))
    }
}

fn failed(problem: Problem) -> (StatusCode, String) {
    // Nothing was committed: the provider sends it again.
    (StatusCode::SERVICE_UNAVAILABLE, problem.to_string())
}

async fn order(State(shop): State<Arc<Shop>>, Path(id): Path<String>, Json(cart): Json<Cart>) -> Answer {
    let command =
        placed(&shop, &id, &cart).map_err(|problem| (StatusCode::BAD_REQUEST, problem.to_string()))?;
    Ok(match shop.place(&command).await.map_err(failed)? {
        Reply::Refused(_) => StatusCode::CONFLICT,
        _ => StatusCode::CREATED,
    })
}

fn placed(shop: &Shop, id: &str, cart: &Cart) -> Result<Command, Problem> {
    let total = Money::parse(&cart.price, MoneyUnit::iso("EUR")?)?;
    let id_of_reference = ReferenceId::new(&cart.payment_intent)?;
    let reference = NewReference { account: shop.account.clone(), id: id_of_reference, expected: None };
    Ok(Command::PlaceOrder(PlaceOrder {
        stamp: Stamp { id: CommandId::new(format!("place-{id}"))?, by: "shop".into(), reason: None },
        order: OrderId::new(id)?,
        generated: false,
        hint: Hint::new(format!("hint-{id}"))?,
        customer: Some(Customer::new(&cart.customer)?),
        lines: vec![Line { sku: Sku::new(&cart.sku)?, quantity: 1 }],
        total,
        fulfil: Fulfil::Order,
        expires_at: None,
        references: vec![reference],
        trace: None,
        token: None,
    }))
}

async fn webhook(State(shop): State<Arc<Shop>>, headers: HeaderMap, body: Bytes) -> Answer {
    let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    // Over the raw bytes, before anything is parsed.
    let genuine = shop.verifier.verify(&lines, &body, now().0 / 1_000).map(|verified| verified.read());
    let notices = match genuine {
        Err(_) => return Err((StatusCode::UNAUTHORIZED, "not genuine".to_owned())),
        Ok(Delivery::Test) => return Ok(StatusCode::OK),
        Ok(Delivery::Events(notices)) => notices,
    };
    let source = SourceName::new("stripe").map_err(|error| failed(error.into()))?;
    let receive = Receive { source, account: shop.account.clone(), notices, trace: None };
    shop.receive(&receive).await.map_err(failed)?;
    // P1: only now, after the commit.
    Ok(StatusCode::OK)
}
