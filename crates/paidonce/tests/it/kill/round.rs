//! One round: a load of orders and notifications, a server killed in the middle of it, and what must hold afterwards.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use paidonce_ledger::{EventId, EventKey, Key, Keys, OrderId, Subject, Unit, invariants};

use super::site::Site;
use crate::shop::paid;

/// Who sends at the same time.
const SENDERS: usize = 8;

/// Recovery: a lease and five seconds.
const REST_WITHIN: Duration = Duration::from_secs(35);

/// What the rounds came to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) rounds: usize,
    pub(super) orders: usize,
    /// From the kill to the moment at which everything that was paid was granted, the rest of the load included.
    pub(super) slowest: Duration,
}

/// What was acknowledged.
#[derive(Default)]
struct Acknowledged {
    orders: Mutex<Vec<OrderId>>,
    events: Mutex<Vec<EventId>>,
}

fn name(round: usize, sender: usize, n: usize) -> String {
    format!("r{round}-{sender}-{n}")
}

/// Every order is placed once. Every notification is sent by two at once, by one of them perhaps before its order.
fn send(site: &Site, round: usize, sender: usize, acknowledged: &Acknowledged) {
    for n in 0..site.orders {
        let (mine, theirs) = (name(round, sender, n), name(round, (sender + 1) % SENDERS, n));
        site.place_order(sender + n, &mine);
        acknowledged.orders.lock().unwrap().push(OrderId::new(&mine).unwrap());
        for order in [mine, theirs] {
            let event = format!("e-{order}");
            site.deliver(sender + n, &paid(&event, &format!("p-{order}"), &order, "19.90"));
            acknowledged.events.lock().unwrap().push(EventId::new(event).unwrap());
        }
    }
}

/// Looks random and is a function of the round: after how many acknowledged notifications, and which server.
fn moment(site: &Site, round: usize) -> (usize, usize) {
    let mixed = (round + 1).wrapping_mul(0x5851_F42D_4C95_7F2D).rotate_left(17);
    (mixed % (2 * SENDERS * site.orders), mixed >> 32)
}

/// Sends the load of a round, and does this in the middle of it. Answers when.
fn load(site: &Site, round: usize, acknowledged: &Acknowledged, then: impl FnOnce()) -> Instant {
    let (after, _) = moment(site, round);
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            scope.spawn(move || send(site, round, sender, acknowledged));
        }
        while acknowledged.events.lock().unwrap().len() < after {
            std::thread::sleep(Duration::from_micros(100));
        }
        let at = Instant::now();
        then();
        at
    })
}

/// Kills one of `servers` under load, and checks what is there.
pub(super) fn killed(site: &Site, servers: usize, round: usize, tally: &mut Tally) {
    let acknowledged = Acknowledged::default();
    let victim = moment(site, round).1 % servers;
    // Every other time another server goes on alone until the load is done; alone, a server comes back at once.
    let at_once = servers == 1 || round.is_multiple_of(2);
    let at = load(site, round, &acknowledged, || {
        site.kill(victim);
        if at_once {
            site.start(victim);
        }
    });
    rests(site, &acknowledged, at, tally);
    if !at_once {
        site.start(victim);
    }
}

/// Stops one of two servers under load until everything is at rest; then wakes it.
pub(super) fn asleep(site: &Site, round: usize, tally: &mut Tally) {
    let acknowledged = Acknowledged::default();
    let sleeper = moment(site, round).1 % 2;
    let at = load(site, round, &acknowledged, || site.stop(sleeper));
    rests(site, &acknowledged, at, tally);
    site.wake(sleeper);
}

/// Waits until everything that was paid is granted, and counts: nothing acknowledged is lost, nothing is there twice.
fn rests(site: &Site, acknowledged: &Acknowledged, at: Instant, tally: &mut Tally) {
    let (orders, events) = (acknowledged.orders.lock().unwrap(), acknowledged.events.lock().unwrap());
    let account = site.account();
    let event = |id: &EventId| EventKey { account: account.clone(), id: id.clone() };
    let keys: Keys = orders
        .iter()
        .map(|id| Key::Order(id.clone()))
        .chain(events.iter().map(|id| Key::Event(event(id))))
        .collect();
    let until = Instant::now() + REST_WITHIN;
    loop {
        let ledger = site.store.load(&keys).unwrap();
        let granted = orders.iter().filter(|id| ledger.entitlements_of(id).count() == 1).count();
        if granted == orders.len() {
            for id in orders.iter() {
                assert!(ledger.orders.get(id).is_some(), "order {id} was acknowledged, and is gone");
                let units: Vec<_> = ledger.entitlements_of(id).map(|(unit, _)| unit).collect();
                assert_eq!(units, [Unit::Order], "{id}");
                assert!(ledger.tasks_of(&Subject::Order(id.clone())).all(|(_, t)| !t.state.active()));
            }
            for id in events.iter() {
                let stored = ledger.events.get(&event(id));
                let stored = stored.unwrap_or_else(|| panic!("event {id} was acknowledged, and is gone"));
                assert!(stored.outcome.processed(), "event {id}: {:?}", stored.outcome);
            }
            tally.rounds += 1;
            tally.orders += orders.len();
            tally.slowest = tally.slowest.max(at.elapsed());
            return;
        }
        let what = format!("{granted} of {} orders are granted {REST_WITHIN:?} after the load", orders.len());
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Everything that is stored holds together, and the command line says so too.
pub(super) fn whole(site: &Site, tally: &Tally) {
    let ledger = site.store.snapshot().unwrap();
    assert_eq!(invariants::check_settled(&ledger, &site.config.policy()), []);
    assert_eq!(ledger.orders.rows().len(), tally.orders);
    assert_eq!(ledger.events.rows().len(), tally.orders);
    assert_eq!(ledger.entitlements.rows().len(), tally.orders);
    let audit = site.folder().run(&["audit"]);
    assert_eq!(audit.code, 0, "{}{}", audit.out, audit.err);
}
