//! Bodies are dropped when their time is over: the bytes are gone everywhere, and nothing is decided otherwise.

use paidonce_ledger::testing::{about, account, eur, id, notice, receive, with_other_bytes};
use paidonce_ledger::{
    CaptureState, Command, Event, EventKey, Fact, Key, Keys, Ledger, Name, Notice, Policy, Reading, Received,
    Reply, Timestamp,
};

use super::{Harness, NOW, sound};
use crate::{Bodies, EventFilter, ImportOptions, MemoryStore, OldBodies, Page, Store, export, import, read};

const RETENTION_MS: i64 = 1_000;

fn policy() -> Policy {
    Policy { body_retention_ms: Some(RETENTION_MS), ..Policy::default() }
}

fn key(event: &str) -> EventKey {
    EventKey { account: account(), id: id(event) }
}

fn captured(event: &str) -> Notice {
    about(event, "pi_1", vec![Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur("10")))])
}

fn sweep(event: &str) -> Command {
    Command::Sweep(Key::Event(key(event)))
}

fn heard(reply: &Reply) -> Received {
    match reply {
        Reply::Received(replies) => replies[0].received,
        other => panic!("not heard: {other:?}"),
    }
}

fn row<'a>(ledger: &'a Ledger, event: &str) -> &'a Event {
    ledger.events.get(&key(event)).expect("events stay")
}

/// However the event is asked for, its bytes are not there.
fn is_gone(store: &dyn Store, event: &str, at: Timestamp) {
    let part = store.load(&Keys::from([Key::Event(key(event))])).expect("readable");
    let filter = EventFilter { id: Some(id(event)), ..EventFilter::default() };
    let listed = store.events(&filter, &Page::first(1)).expect("readable").rows.remove(0).1;
    for row in [row(&sound(store, &policy()), event), row(&part, event), &listed] {
        assert_eq!((row.dropped_at, row.body.bytes()), (Some(at), &b""[..]), "{event}");
        assert_eq!(row.body.digest(), captured(event).body.digest(), "{event}");
    }
}

pub(super) fn dropped(harness: &dyn Harness) {
    let (store, policy) = (harness.fresh(), policy());
    let events = ["evt_1", "evt_2"].map(captured).to_vec();
    let ignored = notice("evt_ignored", Reading::Ignored);
    let commit = |at: Timestamp, batch: &[Command]| {
        let replies = store.commit(batch, at, &policy).expect("the store works");
        sound(&*store, &policy);
        replies
    };
    commit(NOW, &[receive(events.clone()), receive(vec![ignored.clone()])]);
    let before = sound(&*store, &policy);
    let early = NOW.plus_ms(RETENTION_MS - 1);
    commit(early, &["evt_1", "evt_2", "evt_ignored"].map(sweep));
    assert_eq!(sound(&*store, &policy), before, "it is not time yet");
    // With a duplicate in the same batch, before it and after.
    let late = NOW.plus_ms(RETENTION_MS);
    let batch =
        [receive(events[..1].to_vec()), sweep("evt_1"), receive(events[..1].to_vec()), sweep("evt_ignored")];
    let replies = commit(late, &batch);
    assert_eq!([heard(&replies[0]), heard(&replies[2])], [Received::Duplicate; 2]);
    is_gone(&*store, "evt_1", late);
    let ledger = sound(&*store, &policy);
    assert_eq!((row(&ledger, "evt_1").duplicates, row(&ledger, "evt_2").dropped_at), (2, None));
    assert_eq!(row(&ledger, "evt_2").body.bytes(), events[1].body.bytes());
    assert_eq!(
        row(&ledger, "evt_ignored").body.bytes(),
        ignored.body.bytes(),
        "a contract may learn its type"
    );
    // Once more is nothing more, also for another process.
    let later = late.plus_ms(5_000);
    commit(later, &[sweep("evt_1")]);
    assert_eq!(sound(&*store, &policy), ledger);
    let second = harness.second();
    let other = second.as_deref().unwrap_or(&*store);
    is_gone(other, "evt_1", late);
    // P2, P7: a redelivery is known by its digest, and other content by another one.
    let again = [receive(events[..1].to_vec()), receive(vec![with_other_bytes(&events[0])])];
    let replies = other.commit(&again, later, &policy).expect("the store works");
    assert_eq!([heard(&replies[0]), heard(&replies[1])], [Received::Duplicate, Received::Conflict]);
    is_gone(&*store, "evt_1", late);
    let ledger = sound(&*store, &policy);
    assert_eq!((row(&ledger, "evt_1").duplicates, ledger.cases.rows().len()), (3, 1));
    moves(&*store);
}

/// An export says that a body was dropped, and an import believes that alone.
fn moves(store: &dyn Store) {
    let mut text = Vec::new();
    export(&store.snapshot().expect("readable"), &mut text, &mut |_| {}).expect("a vector takes it");
    let from = read(&mut text.as_slice(), &mut |_, _| {}).expect("what was exported is an export");
    let (copy, options) = (MemoryStore::new(), ImportOptions { rows_a_commit: 3, now: NOW });
    import(&copy, &from, &options, &mut |_| {}).expect("an empty store takes it");
    is_gone(&copy, "evt_1", NOW.plus_ms(RETENTION_MS));
    let text = String::from_utf8(text).expect("lines are text");
    let mark = format!("\"dropped_at\":{},", NOW.plus_ms(RETENTION_MS).0);
    let unsaid = text.replacen(&mark, "", 1);
    assert_ne!(unsaid, text, "no line says {mark}");
    let refused = read(&mut unsaid.as_bytes(), &mut |_, _| {}).expect_err("bytes are missing");
    assert!(refused.to_string().contains("has a digest and no bytes"), "{refused}");
}

pub(super) fn in_steps(harness: &dyn Harness) {
    let (store, memory, policy) = (harness.fresh(), MemoryStore::new(), policy());
    let both = |at: i64, command: Command| {
        for store in [&*store, &memory as &dyn Store] {
            store.commit(std::slice::from_ref(&command), Timestamp(at), &policy).expect("the store works");
        }
    };
    // Two come in each millisecond, the later by its id first. Some are of no use to the search.
    for n in 0..12 {
        let event = format!("evt_{:02}", 20 - n);
        let notice = match n {
            3 => notice(&event, Reading::Ignored),
            5 => notice(&event, Reading::Unreadable("no JSON".to_owned())),
            8 => Notice { account: Some(id::<Name>("other")), ..captured(&event) },
            _ => captured(&event),
        };
        both(100 + n / 2, receive(vec![notice]));
    }
    // Of one event there are two contents, and the case is open.
    both(110, receive(vec![with_other_bytes(&captured("evt_20"))]));
    let asked = |after, by, walk, limit| Bodies { after: Timestamp(after), by: Timestamp(by), walk, limit };
    let found = |wanted: &Bodies| {
        let found = store.old_bodies(wanted).expect("readable");
        assert_eq!(found, memory.old_bodies(wanted).expect("readable"), "{wanted:?}");
        found
    };
    let all = OldBodies {
        events: ["evt_19", "evt_18", "evt_16", "evt_13", "evt_14", "evt_11", "evt_09", "evt_10"]
            .map(key)
            .to_vec(),
        to: Timestamp(105),
    };
    let mut every = found(&asked(i64::MIN, 105, 100, 100));
    every.events.sort();
    let mut expected = all.events.clone();
    expected.sort();
    assert!(
        every.events.iter().all(|event| !["evt_20", "evt_17", "evt_15", "evt_12"].map(key).contains(event))
    );
    assert_eq!((every.events.len(), every.to), (expected.len(), all.to));
    for (after, by) in [(i64::MIN, 105), (99, 103), (101, 104), (105, 200), (102, 102)] {
        for walk in 1..13 {
            for limit in 1..10 {
                found(&asked(after, by, walk, limit));
            }
        }
    }
    // Step by step each is found once, and what is dropped is not found again.
    let (mut after, mut dropped) = (Timestamp(i64::MIN), Vec::new());
    for _ in 0..100 {
        let wanted = Bodies { after, by: Timestamp(105), walk: 2, limit: 2 };
        let OldBodies { events, to } = found(&wanted);
        events.iter().for_each(|event| both(9_000, Command::Sweep(Key::Event(event.clone()))));
        assert!(to > after || events.len() == 2, "it goes on");
        dropped.extend(events);
        after = to;
        if after == Timestamp(105) {
            break;
        }
    }
    assert_eq!(dropped.len(), expected.len());
    dropped.sort();
    assert_eq!(dropped, every.events);
    assert_eq!(found(&asked(i64::MIN, 105, 100, 100)).events, []);
    assert_eq!(sound(&*store, &policy), sound(&memory, &policy));
}
