//! A connection that breaks between a request and its answer, at every request of a commit and at COMMIT itself: the
//! outcome is known or said to be unknown, and running the command again is right either way.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use paidonce_ledger::testing::{about, eur, id, place, receive};
use paidonce_ledger::{CaptureState, Command, Fact, Policy, Received, Reply, invariants};
use paidonce_store::conformance::NOW;
use paidonce_store::{Store, StoreErrorKind};

/// What to break next; it happens once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// After this many requests have passed: the next is delivered, and its answer lost.
    AnswerAfter(usize),
    /// COMMIT is delivered, and its answer lost.
    AnswerOfCommit,
    /// COMMIT is lost.
    Commit,
}

#[derive(Default)]
struct Plan {
    next: Option<Cut>,
    happened: bool,
}

/// Stands between a store and its server.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    plan: Arc<Mutex<Plan>>,
}

impl Proxy {
    /// Forwards to `server`, a `host:port`.
    pub(crate) fn new(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, plan) = (listener.local_addr().unwrap().port(), Arc::<Mutex<Plan>>::default());
        let shared = plan.clone();
        // Lives as long as the test process: it ends with its sockets.
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(&server).unwrap();
                connection(client, server, shared.clone());
            }
        });
        Self { port, plan }
    }

    fn plan(&self, next: Cut) {
        *self.plan.lock().unwrap() = Plan { next: Some(next), happened: false };
    }

    /// Whether it happened, and nothing more will.
    fn happened(&self) -> bool {
        let mut plan = self.plan.lock().unwrap();
        plan.next = None;
        plan.happened
    }
}

fn connection(mut client: TcpStream, mut server: TcpStream, plan: Arc<Mutex<Plan>>) {
    let mute = Arc::new(AtomicBool::new(false));
    let (muted, mut from_server, mut to_client) =
        (mute.clone(), server.try_clone().unwrap(), client.try_clone().unwrap());
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    std::thread::spawn(move || {
        let mut bytes = [0; 65536];
        while let Ok(n @ 1..) = from_server.read(&mut bytes) {
            // The server has answered, so it has done what it was asked; nobody will hear.
            if muted.load(SeqCst) || to_client.write_all(&bytes[..n]).is_err() {
                break;
            }
        }
        let _ = from_server.shutdown(Shutdown::Both);
        let _ = to_client.shutdown(Shutdown::Both);
    });
    std::thread::spawn(move || {
        let mut bytes = [0; 65536];
        while let Ok(n @ 1..) = client.read(&mut bytes) {
            match cut(&plan, &bytes[..n]) {
                Some(Cut::Commit) => break,
                Some(_) => mute.store(true, SeqCst),
                None => {}
            }
            if server.write_all(&bytes[..n]).is_err() {
                break;
            }
        }
        if !mute.load(SeqCst) {
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
        }
    });
}

/// Whether this request is the one.
fn cut(plan: &Mutex<Plan>, request: &[u8]) -> Option<Cut> {
    let mut plan = plan.lock().unwrap();
    let next = plan.next?;
    let now = match next {
        Cut::AnswerAfter(0) => true,
        Cut::AnswerAfter(n) => {
            plan.next = Some(Cut::AnswerAfter(n - 1));
            false
        }
        Cut::AnswerOfCommit | Cut::Commit => is_commit(request),
    };
    if now {
        *plan = Plan { next: None, happened: true };
    }
    now.then_some(next)
}

/// Whether it says COMMIT, and not READ COMMITTED.
fn is_commit(request: &[u8]) -> bool {
    let at = request.windows(6).position(|word| word == b"COMMIT");
    at.is_some_and(|at| request.get(at + 6) != Some(&b'T'))
}

fn paid(event: &str, payment: &str) -> Command {
    let capture = Fact::captured(id(payment), CaptureState::Settled, Some(eur("10")));
    receive(vec![about(event, payment, vec![capture])])
}

fn received(store: &dyn Store, command: &Command) -> (Received, usize) {
    let mut unknown = 0;
    loop {
        match store.commit(std::slice::from_ref(command), NOW, &Policy::default()) {
            Ok(replies) => {
                let Reply::Received(events) = &replies[0] else { panic!("{replies:?}") };
                return (events[0].received, unknown);
            }
            Err(error) => {
                assert_eq!(error.kind(), StoreErrorKind::Unknown, "{error}");
                unknown += 1;
            }
        }
    }
}

/// `through` reaches the store of `direct` through the proxy.
pub(crate) fn no_wrong_outcome(direct: &dyn Store, through: &dyn Store, proxy: &Proxy) {
    let policy = Policy::default();
    let ordered = |n: usize| {
        let order = place(&format!("o_{n}"), &eur("10"), &[&format!("pi_{n}")]);
        direct.commit(&[Command::PlaceOrder(order)], NOW, &policy).unwrap();
        paid(&format!("evt_{n}"), &format!("pi_{n}"))
    };

    // COMMIT arrived: unknown, done, and found when it is run again.
    let event = ordered(1_000);
    proxy.plan(Cut::AnswerOfCommit);
    assert_eq!(received(through, &event), (Received::Duplicate, 1));
    assert!(proxy.happened());
    // COMMIT did not arrive: unknown, not done, and done when it is run again.
    let event = ordered(1_001);
    proxy.plan(Cut::Commit);
    assert_eq!(received(through, &event), (Received::Accepted, 1));
    assert!(proxy.happened());
    // Any other request: nothing is committed, and the store tries again by itself, until all have passed.
    let mut cuts = 0;
    for n in 0.. {
        let event = ordered(n);
        proxy.plan(Cut::AnswerAfter(n));
        let (received, unknown) = received(through, &event);
        if !proxy.happened() {
            break;
        }
        cuts += 1;
        assert_eq!(
            received == Received::Duplicate,
            unknown == 1,
            "request {n}: {received:?}, {unknown} unknown"
        );
    }
    assert!(cuts > 5, "a commit is more than {cuts} requests");

    let ledger = direct.snapshot().unwrap();
    assert_eq!(invariants::check_settled(&ledger, &policy), []);
    assert_eq!(ledger.events.rows().len(), ledger.orders.rows().len());
    assert_eq!(ledger.tasks.rows().len(), ledger.orders.rows().len());
}
