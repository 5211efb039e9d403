//! A command in the application's own transaction: both commit, or neither.

use paidonce_ledger::testing::{about, eur, id, place, receive};
use paidonce_ledger::{CaptureState, Command, Fact, Policy, Received, Reply};
use paidonce_store::conformance::{NOW, skipped};
use paidonce_store::{Due, Joined, PostgresStore, PostgresTables, Store, StoreErrorKind};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};

use super::server::{self, Schema};

async fn connect() -> PgConnection {
    PgConnection::connect(&server::url()).await.unwrap()
}

async fn run(connection: &mut PgConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.unwrap();
}

async fn count(connection: &mut PgConnection, table: String) -> i64 {
    let sql = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    sqlx::query(sql).fetch_one(connection).await.unwrap().get(0)
}

/// Tables in a schema of their own, with one order, beside a table of the application's.
async fn set_up(schema: &str) -> (PostgresTables, PgConnection) {
    let (tables, mut connection) = (PostgresTables::new(schema), connect().await);
    tables.migrate(&mut connection).await.unwrap();
    run(&mut connection, format!("CREATE TABLE {schema}.licence (customer TEXT)")).await;
    let order = Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"]));
    let mut transaction = connection.begin().await.unwrap();
    tables.execute_in(&mut transaction, &order, NOW, &Policy::default()).await.unwrap();
    transaction.commit().await.unwrap();
    (tables, connection)
}

fn paid() -> Command {
    let capture = Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur("10")));
    receive(vec![about("evt_1", "pi_1", vec![capture])])
}

#[test]
fn p2_an_event_and_the_applications_row_commit_together_or_not_at_all() {
    if skipped("joined transactions", server::missing().as_deref()) {
        return;
    }
    let schema = Schema::default();
    // On a runtime with two threads: the future can move between them, as a web framework's must.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let name = schema.name.clone();
    let done = runtime.spawn(async move {
        let (tables, mut connection) = set_up(&name).await;
        let mut answers = Vec::new();
        for commits in [false, true, true] {
            let mut transaction = connection.begin().await.unwrap();
            let joined = tables.execute_in(&mut transaction, &paid(), NOW, &Policy::default()).await.unwrap();
            let Joined::Done(Reply::Received(events)) = joined else { panic!("{joined:?}") };
            answers.push(events[0].received);
            if events[0].received == Received::Accepted {
                run(&mut transaction, format!("INSERT INTO {name}.licence VALUES ('alice')")).await;
            }
            if commits {
                transaction.commit().await.unwrap();
            } else {
                transaction.rollback().await.unwrap();
            }
        }
        let rows = (
            count(&mut connection, format!("{name}.event")).await,
            count(&mut connection, format!("{name}.licence")).await,
        );
        (answers, rows)
    });
    let (answers, rows) = runtime.block_on(done).unwrap();
    assert_eq!(answers, [Received::Accepted, Received::Accepted, Received::Duplicate]);
    assert_eq!(rows, (1, 1));
}

#[test]
fn any_level_but_read_committed_is_refused() {
    if skipped("joined transactions", server::missing().as_deref()) {
        return;
    }
    let schema = Schema::default();
    server::wait_for(async {
        let (tables, mut connection) = set_up(&schema.name).await;
        for level in ["REPEATABLE READ", "SERIALIZABLE"] {
            let mut transaction = connection.begin().await.unwrap();
            run(&mut transaction, format!("SET TRANSACTION ISOLATION LEVEL {level}")).await;
            let refused = tables.execute_in(&mut transaction, &paid(), NOW, &Policy::default()).await;
            assert_eq!(refused.unwrap_err().kind(), StoreErrorKind::Usage, "{level}");
        }
    });
}

#[test]
fn the_loser_of_a_race_is_told_to_retry_and_leaves_nothing() {
    if skipped("joined transactions", server::missing().as_deref()) {
        return;
    }
    let schema = Schema::default();
    server::wait_for(async {
        let (tables, mut one) = set_up(&schema.name).await;
        let (policy, mut two) = (Policy::default(), connect().await);
        run(&mut two, "SET lock_timeout = 50".to_owned()).await;
        let mut first = one.begin().await.unwrap();
        tables.execute_in(&mut first, &paid(), NOW, &policy).await.unwrap();
        let mut second = two.begin().await.unwrap();
        run(&mut second, format!("INSERT INTO {}.licence VALUES ('before')", schema.name)).await;
        // The first holds the reference's lock; the second waits 50 ms for it.
        assert_eq!(tables.execute_in(&mut second, &paid(), NOW, &policy).await.unwrap(), Joined::Retry);
        first.commit().await.unwrap();
        // Even one who goes on in the same transaction has nothing of the lost try in it.
        let joined = tables.execute_in(&mut second, &paid(), NOW, &policy).await.unwrap();
        let Joined::Done(Reply::Received(events)) = joined else { panic!("{joined:?}") };
        assert_eq!(events[0].received, Received::Duplicate);
        second.commit().await.unwrap();
        assert_eq!(count(&mut two, format!("{}.event", schema.name)).await, 1);
        assert_eq!(count(&mut two, format!("{}.licence", schema.name)).await, 1);
    });
}

#[test]
fn p10_workers_wake_at_the_callers_commit_and_not_before() {
    if skipped("joined transactions", server::missing().as_deref()) {
        return;
    }
    let (schema, (sender, heard)) = (Schema::default(), std::sync::mpsc::channel());
    let store = PostgresStore::open(&server::url(), schema.options()).unwrap();
    let commit = |command: Command, commits: bool| {
        server::wait_for(async {
            let (tables, mut connection) = (PostgresTables::new(&schema.name), connect().await);
            let mut transaction = connection.begin().await.unwrap();
            let joined =
                tables.execute_in(&mut transaction, &command, NOW, &Policy::default()).await.unwrap();
            assert!(matches!(joined, Joined::Done(_)), "{joined:?}");
            if commits {
                transaction.commit().await.unwrap();
            } else {
                transaction.rollback().await.unwrap();
            }
        });
    };
    commit(Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"])), true);
    let wake = move || {
        // Who does not wait any more needs no hint.
        let _ = sender.send(());
    };
    store.on_work(std::sync::Arc::new(wake));
    let wait = || heard.recv_timeout(std::time::Duration::from_secs(60)).expect("a hint");
    // It says so itself once it listens.
    wait();
    commit(paid(), false);
    assert_eq!(store.due(&Due::Grants, NOW, 10).unwrap(), [], "nothing was committed, so nothing is told");
    commit(paid(), true);
    wait();
    assert_eq!(store.due(&Due::Grants, NOW, 10).unwrap().len(), 1);
    // What makes no work wakes nobody: the second notice is that of the last commit, and the only one.
    commit(paid(), true);
    commit(Command::PlaceOrder(place("1002", &eur("10"), &["pi_2"])), true);
    let capture = Fact::captured(id("pi_2"), CaptureState::Settled, Some(eur("10")));
    commit(receive(vec![about("evt_2", "pi_2", vec![capture])]), true);
    wait();
    assert_eq!(heard.try_recv().err(), Some(std::sync::mpsc::TryRecvError::Empty));
}
