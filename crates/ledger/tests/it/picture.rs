//! The picture of an order's standings in ARCHITECTURE.md is drawn by the code: every step of one event that leads
//! from one standing to another, explored from an order that was just placed. `UPDATE_PICTURE=1` draws it again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use paidonce_ledger::testing::{about, cancel, eur, id, place, receive};
use paidonce_ledger::{
    CaptureState, Command, DisputeState, Ending, Fact, Ledger, OrderId, Policy, RefundState, Standing,
    Timestamp, Word,
};

const NOW: Timestamp = Timestamp(1_000);
const BEGIN: &str = "<!-- standings: drawn by crates/ledger/tests/it/picture.rs -->\n";
const END: &str = "<!-- end of standings -->";

/// Deep enough that every standing is reached, and every step between two of them that one event makes.
const DEPTH: usize = 4;

fn event(name: &str, payment: &str, fact: Fact) -> Command {
    receive(vec![about(&format!("evt_{}", name.replace(' ', "_")), payment, vec![fact])])
}

/// What may happen to an order of 10.00, each as one command.
fn happenings() -> Vec<(&'static str, Command)> {
    let captured = |name: &str, payment: &str, amount: &str| {
        event(name, payment, Fact::captured(id(payment), CaptureState::Settled, Some(eur(amount))))
    };
    let refunded = |name: &str, refund: &str, state, amount: &str| {
        event(name, "pi_1", Fact::refunded(id(refund), state, Some(eur(amount))))
    };
    let disputed =
        |name: &str, state| event(name, "pi_1", Fact::disputed(id("dp_1"), 1, state, Some(eur("10"))));
    vec![
        ("started", event("started", "pi_1", Fact::pending(Some(eur("10"))))),
        ("authorized", event("authorized", "pi_1", Fact::authorized(Some(eur("10"))))),
        ("ended without money", event("ended", "pi_1", Fact::ended(Ending::Failed))),
        ("captured", captured("captured", "pi_1", "10")),
        ("a part captured", captured("part", "pi_3", "4")),
        ("another payment captured", captured("again", "pi_2", "10")),
        ("a part refunded", refunded("part refund", "re_1", RefundState::Succeeded, "3")),
        ("refunded", refunded("refund", "re_2", RefundState::Succeeded, "10")),
        ("the refund failed", refunded("refund failed", "re_2", RefundState::Failed, "10")),
        ("disputed", disputed("disputed", DisputeState::Open)),
        ("the dispute won", disputed("won", DisputeState::Won)),
        ("the dispute lost", disputed("lost", DisputeState::Lost)),
        ("cancelled", cancel("1001")),
    ]
}

fn word(ledger: &Ledger) -> Word {
    let id: OrderId = id("1001");
    let order = ledger.orders.get(&id).unwrap();
    let facts: Vec<_> = order.payments.iter().map(|key| (key.clone(), ledger.facts_of(key))).collect();
    Standing::of(&id, order, &facts, &Policy::default()).word
}

/// (from, to) and what leads there.
type Steps = BTreeMap<(Word, Word), BTreeSet<&'static str>>;

/// Every step, and of those the ones by which each standing is first reached.
fn steps() -> (Steps, Steps) {
    let policy = Policy::default();
    let mut first = Ledger::whole();
    first.execute(&Command::PlaceOrder(place("1001", &eur("10"), &["pi_1", "pi_2", "pi_3"])), NOW, &policy);
    let (mut steps, mut firsts) = (Steps::new(), Steps::new());
    let mut depths = BTreeMap::from([(Word::Unpaid, 0)]);
    let mut open = VecDeque::from([(0, first)]);
    let happenings = happenings();
    while let Some((depth, ledger)) = open.pop_front() {
        for (name, command) in &happenings {
            let mut next = ledger.clone();
            next.execute(command, NOW, &policy);
            let (from, to) = (word(&ledger), word(&next));
            if from != to {
                steps.entry((from, to)).or_default().insert(*name);
                if *depths.entry(to).or_insert(depth + 1) == depth + 1 {
                    firsts.entry((from, to)).or_default().insert(*name);
                }
            }
            if next != ledger && depth + 1 < DEPTH {
                open.push_back((depth + 1, next));
            }
        }
    }
    (steps, firsts)
}

fn names(of: &BTreeSet<&'static str>) -> String {
    of.iter().copied().collect::<Vec<_>>().join("; ")
}

fn draw() -> String {
    let (steps, firsts) = steps();
    let reached: BTreeSet<_> = steps.keys().map(|(_, to)| *to).collect();
    let missing: Vec<_> =
        Word::ALL.iter().filter(|word| **word != Word::Unpaid && !reached.contains(word)).collect();
    assert!(missing.is_empty(), "no step leads to {missing:?}");
    let mut text = "```mermaid\nstateDiagram-v2\n    [*] --> unpaid: placed\n".to_owned();
    for ((from, to), by) in &firsts {
        text.push_str(&format!("    {from} --> {to}: {}\n", names(by)));
    }
    text.push_str("```\n\nThe picture has the shortest ways to each standing; these are all steps:\n\n");
    text.push_str("| from | by | to |\n|---|---|---|\n");
    for ((from, to), by) in &steps {
        text.push_str(&format!("| {from} | {} | {to} |\n", names(by)));
    }
    text
}

#[test]
fn the_picture_of_standings_is_what_the_code_does() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ARCHITECTURE.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("ARCHITECTURE.md marks where the picture begins");
    let (picture, after) = rest.split_once(END).expect("and where it ends");
    let drawn = draw();
    if std::env::var_os("UPDATE_PICTURE").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{drawn}{END}{after}")).unwrap();
    } else {
        assert_eq!(picture, drawn, "draw it again with UPDATE_PICTURE=1, and read what changed");
    }
}
