//! Four processes with eight threads each on four hot orders, every event delivered four times: exact results, and no
//! deadlock or conflict ever reaches a caller.

use std::process::{Child, Command as Process};

use paidonce_ledger::testing::{about, eur, id, place, receive};
use paidonce_ledger::{CaptureState, Command, Fact, Policy, Reply, invariants};
use paidonce_store::Store;
use paidonce_store::conformance::NOW;

const PROCESSES: usize = 4;
const THREADS: usize = 8;
const ORDERS: usize = 4;
/// Different events; an eighth of them says that an order is paid.
const EVENTS: usize = 96;
/// Deliveries of each. More than two, so that updates of the same row meet as well as inserts.
const COPIES: usize = 4;

/// Tells a process that it is one of the four, and which.
const WHICH: &str = "PAIDONCE_TEST_CONTENDER";
/// Where the store is.
const PLACE: &str = "PAIDONCE_TEST_PLACE";

/// Runs the four as processes of this very test binary, and looks at what they left.
///
/// `test` is the name of the test that calls [`contend`] in them.
pub(crate) fn four_processes(store: &dyn Store, test: &str, place_of_store: &str) {
    let policy = Policy::default();
    for order in 0..ORDERS {
        let placed = place(&format!("o_{order}"), &eur("10"), &[&format!("pi_{order}")]);
        store.commit(&[Command::PlaceOrder(placed)], NOW, &policy).unwrap();
    }
    let spawn = |which: usize| -> Child {
        let mut process = Process::new(std::env::current_exe().unwrap());
        process.args(["--exact", test, "--nocapture"]);
        process.env(WHICH, which.to_string()).env(PLACE, place_of_store).spawn().unwrap()
    };
    let processes: Vec<_> = (0..PROCESSES).map(spawn).collect();
    let ended: Vec<_> = processes.into_iter().map(|mut process| process.wait().unwrap().success()).collect();
    assert_eq!(ended, [true; PROCESSES], "a process met an error");

    let ledger = store.snapshot().unwrap();
    assert_eq!(invariants::check_settled(&ledger, &policy), []);
    assert_eq!(ledger.events.rows().len(), EVENTS);
    let duplicates: Vec<_> = ledger.events.rows().values().map(|event| event.duplicates as usize).collect();
    assert_eq!(duplicates, [COPIES - 1; EVENTS], "no delivery was lost");
    assert_eq!(ledger.entitlements.rows().len(), ORDERS);
    assert!(ledger.entitlements.rows().values().all(|row| row.revoked_at.is_none()));
    let failed_tries = ledger.facts.rows().keys().filter(|(_, fact)| fact.kind() == "attempt_failed").count();
    assert_eq!(failed_tries, EVENTS - EVENTS / 8, "no fact was lost");
}

/// What one of the four does; does nothing and answers `None` in the test run itself.
pub(crate) fn contend(open: impl Fn(&str) -> Box<dyn Store>) -> Option<()> {
    let which: usize = std::env::var(WHICH).ok()?.parse().ok()?;
    let store = open(&std::env::var(PLACE).ok()?);
    let store = &*store;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || work(store, which * THREADS + thread));
        }
    });
    Some(())
}

fn event(n: usize) -> Command {
    let (name, payment) = (format!("evt_{n}"), format!("pi_{}", n % ORDERS));
    let fact = if (n / ORDERS).is_multiple_of(8) {
        Fact::captured(id(&payment), CaptureState::Settled, Some(eur("10")))
    } else {
        Fact::attempt_failed(id(&name))
    };
    receive(vec![about(&name, &payment, vec![fact])])
}

/// The copies of an event go to different processes, which come to it at about the same time. Batches of three, so that each spans orders.
fn work(store: &dyn Store, worker: usize) {
    let (workers, policy) = (PROCESSES * THREADS, Policy::default());
    let mine = |n: &usize| (0..COPIES).any(|copy| (n + copy * THREADS) % workers == worker);
    let events: Vec<_> = (0..EVENTS).filter(mine).map(event).collect();
    for batch in events.chunks(3) {
        let replies = store.commit(batch, NOW, &policy).expect("no conflict reaches a caller");
        assert!(replies.iter().all(|reply| matches!(reply, Reply::Received(_))));
    }
    let due = store.due(&paidonce_store::Due::Grants, NOW, 100).expect("readable");
    let grants: Vec<_> = due.into_iter().map(Command::Grant).collect();
    store.commit(&grants, NOW, &policy).expect("no conflict reaches a caller");
}
