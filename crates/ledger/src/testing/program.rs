//! Random programs: few ids, so that everything meets everything, and every kind of fact.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{
    about, account, cancel, id, money, notice, place, product, receive, register, stamp, with_other_bytes,
};
use crate::{
    AskLookup, Body, CancelTask, CaptureState, CaseKey, Claim, Claims, Command, Decision, Digest,
    DisputeState, EffectName, Ending, EventKey, Fact, Fulfil, GrantFailed, Happening, Key, MarkOutside, Mode,
    Money, Name, Notice, Observe, Occasion, OrderId, Outcome, Outside, PaymentKey, Prepare, Reading, Reason,
    RefundState, Renew, Reprocess, ResolveCase, RetryTask, ReviveOrder, SetEntitlement, Settle, Subject,
    TaskKey, Timestamp, Unit, Work,
};

fn any_money() -> impl Strategy<Value = Option<Money>> {
    let known = (0_u8..5, prop::bool::weighted(0.9)).prop_map(|(tens, eur)| {
        Some(money(&(u32::from(tens) * 25).to_string(), if eur { "EUR" } else { "USD" }))
    });
    prop_oneof![15 => known, 1 => Just(None)]
}

/// One fact of any kind.
pub fn any_facts() -> impl Strategy<Value = Fact> {
    let fact = |n: u8| format!("f_{n}");
    prop_oneof![
        2 => any_money().prop_map(Fact::pending),
        1 => any_money().prop_map(Fact::authorized),
        6 => (0_u8..2, 0_u8..3, any_money()).prop_map(move |(n, rank, money)| {
            Fact::captured(id(&fact(n)), CaptureState::of_rank(rank), money)
        }),
        1 => (0_u8..3).prop_map(|n| Fact::attempt_failed(id(&format!("evt_try_{n}")))),
        1 => prop_oneof![Just(Ending::Failed), Just(Ending::Cancelled), Just(Ending::Expired)].prop_map(Fact::ended),
        4 => (0_u8..2, 0_u8..3, any_money()).prop_map(move |(n, rank, money)| {
            Fact::refunded(id(&fact(n)), RefundState::of_rank(rank), money)
        }),
        1 => (0_u8..2, 1_u8..3, 0_u8..5, any_money()).prop_map(move |(n, stage, rank, money)| {
            Fact::disputed(id(&fact(n)), stage, DisputeState::of_rank(rank), money)
        }),
        1 => any_money().prop_map(Fact::total_captured),
        2 => any_money().prop_map(Fact::total_refunded),
    ]
}

fn any_claims() -> impl Strategy<Value = Claims> {
    let facts = vec(any_facts(), 1..3);
    (0_u8..4, vec(0_u8..4, 0..2), vec(0_u8..4, 0..2), facts).prop_map(
        |(payment, references, hints, facts)| Claims {
            payment: id(&format!("pi_{payment}")),
            references: references.iter().map(|n| id(&format!("cs_{n}"))).collect(),
            hints: hints.iter().map(|n| if *n == 3 { id("o_1") } else { id(&format!("po_o_{n}")) }).collect(),
            facts,
        },
    )
}

/// Event ids are few, so that one id comes with several contents.
fn any_notice() -> impl Strategy<Value = Notice> {
    let reading = prop_oneof![
        12 => any_claims().prop_map(Reading::Facts),
        1 => Just(Reading::Ignored),
        1 => Just(Reading::Unreadable("data.object.id is absent".to_owned())),
    ];
    let twist = prop_oneof![12 => Just(0_u8), 1 => Just(1), 1 => Just(2), 1 => Just(3)];
    (0_u16..40, reading, twist).prop_map(|(event, reading, twist)| {
        let notice = notice(&format!("evt_{event}"), reading);
        match twist {
            1 => with_other_bytes(&notice),
            2 => Notice { mode: Some(Mode::Test), ..notice },
            3 => Notice { account: Some(id::<Name>("other")), ..notice },
            _ => notice,
        }
    })
}

/// A product that programs run short of.
fn any_product() -> impl Strategy<Value = Command> {
    let stock = prop_oneof![3 => (0_u64..4).prop_map(Some), 1 => Just(None)];
    let price = prop_oneof![4 => Just("25"), 1 => Just("50")];
    (stock, price, 0_u8..6)
        .prop_map(|(stock, price, n)| product(&format!("product-{n}"), "ticket", &super::eur(price), stock))
}

fn any_place() -> impl Strategy<Value = Command> {
    (0_u8..3, 0_u8..5, prop::option::of(0_u8..4), prop::bool::ANY, 0_u8..4, prop::bool::ANY).prop_map(
        |(order, total, reference, lines, key, ticket)| {
            let references: Vec<_> = reference.iter().map(|n| format!("cs_{n}")).collect();
            let references: Vec<_> = references.iter().map(String::as_str).collect();
            let total = money(&(u32::from(total) * 25).to_string(), "EUR");
            let mut command = place(&format!("o_{order}"), &total, &references);
            command.stamp = stamp(&format!("key-{key}-{order}"));
            if lines {
                command.fulfil = Fulfil::Line;
                command.lines.push(command.lines[0].clone());
            }
            if ticket {
                command.lines.iter_mut().for_each(|line| line.sku = id("ticket"));
                command.expires_at = Some(Timestamp(8_000 * i64::from(key)));
            }
            Command::PlaceOrder(command)
        },
    )
}

fn any_unit() -> impl Strategy<Value = Unit> {
    prop_oneof![Just(Unit::Order), Just(Unit::Line(1)), Just(Unit::Line(2))]
}

fn any_grant() -> impl Strategy<Value = TaskKey> {
    (0_u8..3, any_unit()).prop_map(|(order, unit)| TaskKey::grant(id(&format!("o_{order}")), unit))
}

/// Any task that a program may come to have, and some that it never has.
fn any_task() -> impl Strategy<Value = TaskKey> {
    let effect = |name: &str| id::<EffectName>(name);
    let of_order = move |n: u8, work: Work| {
        let subject = Subject::Order(id(&format!("o_{n}")));
        TaskKey { subject, work }
    };
    let said = prop_oneof![Just(Happening::EntitlementGranted), Just(Happening::OrderPaid)];
    prop_oneof![
        2 => any_grant(),
        2 => any_payment().prop_map(|payment| TaskKey { subject: Subject::Payment(payment), work: Work::Lookup }),
        2 => (0_u8..3, any_unit()).prop_map(move |(n, unit)| {
            of_order(n, Work::Sync { unit, effect: effect("copy") })
        }),
        2 => (0_u8..3, any_unit(), said).prop_map(move |(n, unit, what)| {
            let occasion = Occasion { what, which: "".into() };
            of_order(n, Work::Send { unit, effect: effect("mail"), occasion })
        }),
    ]
}

/// What workers do, in any order, with versions that hold and versions that do not.
fn any_outbox() -> impl Strategy<Value = Command> {
    let claim =
        (any_task(), 0_u8..2, prop_oneof![Just(5_000_i64), Just(60_000)]).prop_map(|(task, n, lease_ms)| {
            Command::Claim(Claim { task, owner: id(&format!("worker-{n}")), lease_ms })
        });
    let renew = (any_task(), 1_u64..4)
        .prop_map(|(task, version)| Command::Renew(Renew { task, version, lease_ms: 60_000 }));
    let prepare = (any_task(), 1_u64..4, 1_u64..5, 0_u8..3).prop_map(|(task, version, revision, n)| {
        let body = Body::new(format!("said {n}").into_bytes());
        Command::Prepare(Prepare { task, version, revision, body })
    });
    let outcome = prop_oneof![
        3 => Just(Outcome::Done),
        2 => prop::option::of(0_i64..60_000).prop_map(|at| Outcome::Retry(at.map(Timestamp))),
        2 => Just(Outcome::Uncertain),
        1 => Just(Outcome::Refused),
        1 => Just(Outcome::NotConfigured),
    ];
    let settle = (any_task(), 1_u64..4, outcome).prop_map(|(task, version, outcome)| {
        Command::Settle(Settle { task, version, outcome, took_ms: 12, detail: "status 500".into() })
    });
    let failed = (any_grant(), 0_u64..3).prop_map(|(task, version)| {
        Command::GrantFailed(GrantFailed { task, version, detail: "no such table".into() })
    });
    let sweep = prop_oneof![
        2 => (0_u8..3).prop_map(|n| Key::Order(id(&format!("o_{n}")))),
        1 => any_payment().prop_map(Key::Payment),
        1 => (0_u16..40).prop_map(|n| Key::Event(EventKey { account: account(), id: id(&format!("evt_{n}")) })),
    ];
    prop_oneof![4 => claim, 1 => renew, 3 => prepare, 4 => settle, 2 => failed, 2 => sweep.prop_map(Command::Sweep)]
}

fn any_payment() -> impl Strategy<Value = PaymentKey> {
    (0_u8..4).prop_map(|n| PaymentKey { account: account(), id: id(&format!("pi_{n}")) })
}

fn any_lookup() -> impl Strategy<Value = Command> {
    let observe = (any_payment(), 0_u32..4, prop::option::of(0_u64..3), vec(any_facts(), 0..3)).prop_map(
        |(payment, number, provider_revision, facts)| {
            Command::Observe(Observe { payment, number, provider_revision, facts })
        },
    );
    prop_oneof![
        1 => any_payment().prop_map(|payment| Command::AskLookup(AskLookup { payment })),
        1 => observe,
    ]
}

fn any_decision() -> impl Strategy<Value = Command> {
    let decision = prop_oneof![
        Just(Decision::Accept),
        Just(Decision::Note),
        (0_u8..3).prop_map(|order| Decision::Bind(id(&format!("o_{order}")))),
    ];
    let reason = prop_oneof![Just(Reason::NamesTwoOrders), Just(Reason::HintRefused)];
    (any_payment(), reason, decision, 0_u8..3, 0_u16..3).prop_map(|(payment, reason, decision, other, n)| {
        let (one, two) = (other, (other + 1) % 3);
        let detail = match reason {
            Reason::HintRefused => format!("it hints at order o_{one} with more than its total"),
            _ => format!(
                "it names order o_{} and order o_{}: it was bound to neither",
                one.min(two),
                one.max(two)
            ),
        };
        let evidence = Digest::of_bytes(detail.as_bytes());
        let case = CaseKey { subject: Subject::Payment(payment), reason, evidence };
        Command::ResolveCase(ResolveCase { stamp: stamp(&format!("resolve-{n}")), case, decision })
    })
}

fn any_operator() -> impl Strategy<Value = Command> {
    let order = |n: u8| id::<OrderId>(&format!("o_{n}"));
    let entitlement =
        (0_u8..3, any_unit(), prop::bool::ANY, 0_u8..4).prop_map(move |(n, unit, granted, k)| {
            let stamp = stamp(&format!("set-{k}"));
            Command::SetEntitlement(SetEntitlement { stamp, order: order(n), unit, granted })
        });
    let cancel_task = (any_task(), 0_u8..4)
        .prop_map(|(task, n)| Command::CancelTask(CancelTask { stamp: stamp(&format!("stop-{n}")), task }));
    let revive = (0_u8..3, 0_u8..2).prop_map(move |(n, again)| {
        let stamp = stamp(&format!("revive-{n}-{again}"));
        Command::ReviveOrder(ReviveOrder { stamp, order: order(n) })
    });
    let what = prop_oneof![
        3 => Just(Outside::Paid),
        1 => Just(Outside::PaidReversed),
        1 => any_payment().prop_map(Outside::Refunded),
    ];
    let outside = (0_u8..3, what, 0_u8..3, any_money()).prop_map(move |(n, what, receipt, money)| {
        let money = money.unwrap_or_else(|| super::eur("25"));
        let stamp = stamp(&format!("outside-{n}-{receipt}"));
        let id = id(&format!("receipt_{receipt}"));
        Command::MarkOutside(MarkOutside { stamp, order: order(n), id, money, what })
    });
    prop_oneof![entitlement, cancel_task, revive, outside, any_decision()]
}

/// An event that may be stored as unreadable, as it reads under a better contract: the bytes are the same.
fn any_reprocess() -> impl Strategy<Value = Command> {
    (0_u16..40, any_claims(), 0_u8..4).prop_map(|(event, claims, n)| {
        let stored =
            notice(&format!("evt_{event}"), Reading::Unreadable("data.object.id is absent".to_owned()));
        let stamp = stamp(&format!("reprocess-{n}"));
        let notice = Notice { reading: Reading::Facts(claims), ..stored };
        Command::Reprocess(Reprocess { stamp, source: id("shop"), account: account(), notice })
    })
}

fn any_command() -> impl Strategy<Value = Command> {
    let reference = (0_u8..3, 0_u8..4, prop::bool::ANY);
    let register = reference.prop_map(|(order, n, payment)| {
        let text = if payment { format!("pi_{n}") } else { format!("cs_{n}") };
        register(&format!("o_{order}"), &text)
    });
    prop_oneof![
        5 => any_place(),
        1 => any_product(),
        2 => register,
        1 => (0_u8..3).prop_map(|order| cancel(&format!("o_{order}"))),
        10 => vec(any_notice(), 1..3).prop_map(receive),
        4 => any_grant().prop_map(Command::Grant),
        2 => any_lookup(),
        3 => any_operator(),
        1 => any_reprocess(),
        6 => any_outbox(),
        1 => (any_task(), 0_u8..3).prop_map(|(task, n)| {
            Command::RetryTask(RetryTask { stamp: stamp(&format!("retry-{n}")), task })
        }),
    ]
}

/// A program: batches of commands, each committed together.
pub fn any_batches() -> impl Strategy<Value = Vec<Vec<Command>>> {
    vec(vec(any_command(), 1..5), 1..12)
}

/// Events about up to three payments of one order (references `pi_0`, `pi_1`, `pi_2`), at least `least` facts,
/// and the same events in another order with repetitions.
pub fn permuted(least: usize, most: usize) -> impl Strategy<Value = (Vec<Notice>, Vec<Notice>)> {
    vec((0_u8..3, any_facts()), least..=most)
        .prop_map(|facts| {
            let event = |(n, (payment, fact)): (usize, (u8, Fact))| {
                about(&format!("evt_{n}"), &format!("pi_{payment}"), vec![fact])
            };
            facts.into_iter().enumerate().map(event).collect::<Vec<_>>()
        })
        .prop_flat_map(|events| {
            let again = vec(0..events.len(), 0..events.len());
            (Just(events), again)
        })
        .prop_flat_map(|(events, again)| {
            let mut all = events.clone();
            all.extend(again.into_iter().map(|n| events[n].clone()));
            (Just(events), Just(all).prop_shuffle())
        })
}
