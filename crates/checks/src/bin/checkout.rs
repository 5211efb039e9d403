//! Checkouts beside admissions: orders of one limited product, then the notifications that pay them, 64 in flight through
//! `Engine::submit` on SQLite. `cargo run --release -p paidonce-checks --bin bench-checkout -- --count 20000`

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use paidonce::clock::SystemClock;
use paidonce_checks::arguments::Arguments;
use paidonce_checks::preload::account;
use paidonce_engine::{Engine, Settings};
use paidonce_ledger::{
    Body, CaptureState, Claims, Command, CommandId, EventId, Fact, FactId, Fulfil, Hint, Line, Money,
    MoneyUnit, NewReference, Notice, OrderId, PaymentId, PlaceOrder, Reading, Receive, ReferenceId, Reply,
    SetProduct, Sku, SourceName, Stamp,
};
use paidonce_store::{SqliteOptions, SqliteStore};

type Failure = Box<dyn std::error::Error>;

fn price() -> Result<Money, Failure> {
    let unit = MoneyUnit::parse("EUR").map_err(|error| error.to_string())?;
    Ok(Money::parse("19.90", unit).map_err(|error| error.to_string())?)
}

fn stamp(id: String) -> Result<Stamp, Failure> {
    Ok(Stamp { id: CommandId::new(id)?, by: "shop".into(), reason: None })
}

fn product(count: u64) -> Result<Command, Failure> {
    let (sku, prices) = (Sku::new("ticket")?, vec![price()?]);
    Ok(Command::SetProduct(SetProduct {
        stamp: stamp("catalogue".to_owned())?,
        sku,
        prices,
        stock: Some(count),
    }))
}

fn checkout(n: u64) -> Result<Command, Failure> {
    let id = ReferenceId::new(format!("pi_{n:010}"))?;
    Ok(Command::PlaceOrder(PlaceOrder {
        stamp: stamp(format!("cart {n}"))?,
        order: OrderId::new(format!("ord_{n:010}"))?,
        generated: true,
        hint: Hint::new(format!("po_{n:010}"))?,
        customer: None,
        lines: vec![Line { sku: Sku::new("ticket")?, quantity: 1 }],
        total: price()?,
        fulfil: Fulfil::Order,
        expires_at: None,
        references: vec![NewReference { account: account()?, id, expected: None }],
        token: None,
        trace: None,
    }))
}

fn admission(n: u64) -> Result<Command, Failure> {
    let payment = PaymentId::new(format!("pi_{n:010}"))?;
    let body = Body::new(format!("{{\"id\":\"evt_{n}\",\"padding\":\"{:01000}\"}}", 0).into_bytes());
    let capture = Fact::captured(FactId::new(payment.as_str())?, CaptureState::Settled, Some(price()?));
    let claims = Claims { payment, references: vec![], hints: vec![], facts: vec![capture] };
    let notice = Notice {
        id: EventId::new(format!("evt_{n:010}"))?,
        kind: "payment_intent.succeeded".into(),
        account: None,
        mode: None,
        reading: Reading::Facts(claims),
        content: body.digest(),
        body,
    };
    let source = SourceName::new("stripe")?;
    Ok(Command::Receive(Receive { source, account: account()?, notices: vec![notice], trace: None }))
}

/// Submits all of them, so many in flight. Answers how many were committed in a second.
async fn drive(engine: &Engine, commands: Vec<Command>, in_flight: usize) -> Result<u128, Failure> {
    let count = commands.len() as u128;
    let queue = Arc::new(Mutex::new(commands.into_iter()));
    let began = Instant::now();
    let submit = |engine: Engine, queue: Arc<Mutex<std::vec::IntoIter<Command>>>| async move {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(command) = next else { return Ok(()) };
            match engine.submit(command).await {
                Ok(Reply::Placed { .. } | Reply::Received(_)) => {}
                other => return Err(format!("{other:?}")),
            }
        }
    };
    let tasks: Vec<_> = (0..in_flight).map(|_| tokio::spawn(submit(engine.clone(), queue.clone()))).collect();
    for task in tasks {
        task.await??;
    }
    Ok(count * 1_000 / began.elapsed().as_millis().max(1))
}

async fn run(arguments: &Arguments) -> Result<(u128, u128), Failure> {
    let (count, in_flight) = (arguments.get("count", 20_000_u64)?, arguments.get("in-flight", 64_usize)?);
    let folder = std::env::temp_dir().join(format!("paidonce-checkout-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let store = SqliteStore::open(folder.join("bench.db"), SqliteOptions::default())?;
    let engine = Engine::start(Arc::new(store), Arc::new(SystemClock), Arc::default(), Settings::default())?;
    engine.submit(product(count)?).await?;
    let checkouts = (0..count).map(checkout).collect::<Result<_, _>>()?;
    let checkouts = drive(&engine, checkouts, in_flight).await?;
    let admissions = (0..count).map(admission).collect::<Result<_, _>>()?;
    let admissions = drive(&engine, admissions, in_flight).await?;
    engine.stop().await;
    std::fs::remove_dir_all(&folder)?;
    Ok((checkouts, admissions))
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::own();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (checkouts, admissions) = runtime.block_on(run(&arguments))?;
    #[allow(clippy::print_stdout)] // What whoever runs it reads.
    {
        let percent = checkouts * 100 / admissions.max(1);
        println!("{checkouts} checkouts/s, {admissions} admissions/s: {percent} %");
    }
    Ok(())
}
