//! Scenarios as text: a command a line, and under it, after `>`, what was answered and what stands.
//!
//! `UPDATE_SCENARIOS=1` writes the answers into the files, for a person to read before they are committed.

use std::fmt::Write as _;

use paidonce_ledger::testing::{
    account, id, money, notice, place, reference, register, stamp, with_other_bytes,
};
use paidonce_ledger::{
    AfterGrant, AskLookup, CancelOrder, CancelTask, CaptureState, Claims, Command, Decision, DisputeState,
    Disputes, Ending, Fact, Fulfil, Hints, Key, Keys, Late, LookupRule, MarkOutside, Mode, Money, Notice,
    Observe, OrderId, Outside, PaymentKey, Policy, Reading, Receive, RefundBlocks, RefundState,
    RegisterReference, Reply, Reprocess, ResolveCase, Retries, RetryTask, ReviveOrder, SetEntitlement,
    SourceName, Standing, Subject, TaskKey, TaskState, Timestamp, Truth, Unit, Unmatched, Work,
};

use super::catalogue::a_line;
use super::{Harness, NOW, grant_all_at, sound};
use crate::{CaseFilter, EventFilter, Page, Store};

/// Every file of scenarios, by name.
const FILES: &[(&str, &str)] = &[
    ("seeds.txt", include_str!("../../scenarios/seeds.txt")),
    ("kinds.txt", include_str!("../../scenarios/kinds.txt")),
    ("facts.txt", include_str!("../../scenarios/facts.txt")),
    ("checkout.txt", include_str!("../../scenarios/checkout.txt")),
    ("outbox.txt", include_str!("../../scenarios/outbox.txt")),
];

pub(super) fn scenarios(harness: &dyn Harness) {
    let update = std::env::var_os("UPDATE_SCENARIOS").is_some();
    for (name, text) in FILES {
        let mut transcript = String::new();
        for scenario in split(text) {
            play(harness, scenario, &mut transcript);
        }
        if update {
            let path = format!("{}/scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
            std::fs::write(path, &transcript).expect("the scenario files can be written");
        } else {
            compare(name, text, &transcript);
        }
    }
}

/// Names the first line that differs, with the scenario that it is in.
fn compare(name: &str, expected: &str, found: &str) {
    let mut title = "";
    for (number, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        if expected.starts_with("## ") {
            title = expected;
        }
        assert_eq!(expected, found, "{name}:{} in {title:?}", number + 1);
    }
    assert_eq!(expected.lines().count(), found.lines().count(), "{name}");
}

/// Cuts a file at its `## ` headings.
fn split(text: &str) -> Vec<&str> {
    let mut starts: Vec<_> = text.match_indices("## ").map(|(at, _)| at).collect();
    starts.retain(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n');
    let mut cuts = vec![0];
    cuts.extend(starts.iter().filter(|at| **at > 0));
    cuts.push(text.len());
    cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect()
}

fn play(harness: &dyn Harness, scenario: &str, transcript: &mut String) {
    let (store, policy) = (harness.fresh(), Policy::default());
    let mut player = Player { store, policy, commands: 0, now: NOW };
    for line in scenario.lines().filter(|line| !line.starts_with('>')) {
        writeln!(transcript, "{line}").expect("strings can be written");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        for answer in player.line(line) {
            writeln!(transcript, "> {answer}").expect("strings can be written");
        }
        sound(&*player.store, &player.policy);
    }
}

pub(super) struct Player {
    pub(super) store: Box<dyn Store>,
    pub(super) policy: Policy,
    commands: usize,
    pub(super) now: Timestamp,
}

/// `name=value` words, and the words that are none.
fn options<'a>(words: &[&'a str]) -> (Vec<&'a str>, Vec<(&'a str, &'a str)>) {
    let plain = words.iter().filter(|word| !word.contains('=')).copied().collect();
    (plain, words.iter().filter_map(|word| word.split_once('=')).collect())
}

impl Player {
    fn line(&mut self, line: &str) -> Vec<String> {
        let words: Vec<_> = line.split_whitespace().collect();
        let (plain, options) = options(&words);
        match plain[..] {
            ["policy"] => self.set_policy(&options),
            ["place", order, amount, unit] => self.place(order, &money(amount, unit), &options),
            ["register", order, reference] => self.commit(&[register(order, reference)]),
            ["register", order, reference, amount, unit] => {
                self.expect(order, reference, &money(amount, unit))
            }
            ["product", sku, amount, unit, stock] => self.product(sku, &money(amount, unit), stock),
            ["stock"] => self.stock(),
            ["buyer-cancel", order] => {
                let stamp = self.stamp();
                self.commit(&[Command::CancelOrder(CancelOrder { stamp, order: id(order), unpaid: true })])
            }
            ["cancel", order] => {
                let stamp = self.stamp();
                self.commit(&[Command::CancelOrder(CancelOrder { stamp, order: id(order), unpaid: false })])
            }
            ["retry", order] => {
                let task = TaskKey::grant(id(order), Unit::Order);
                let stamp = self.stamp();
                self.commit(&[Command::RetryTask(RetryTask { stamp, task })])
            }
            ["ask", payment] => self.commit(&[Command::AskLookup(AskLookup { payment: a_payment(payment) })]),
            ["observe", payment, number, ref facts @ ..] => {
                let facts = facts.join(" ");
                let facts = facts.split(',').map(str::trim).filter(|fact| !fact.is_empty());
                let number = number.parse().expect("a lookup's number");
                let facts = facts.map(|fact| a_fact(fact, "lookup", payment)).collect();
                let revision = options.iter().find(|(name, _)| *name == "revision");
                let provider_revision = revision.map(|(_, n)| n.parse().expect("a revision"));
                let payment = a_payment(payment);
                self.commit(&[Command::Observe(Observe { payment, number, provider_revision, facts })])
            }
            ["resolve", reason, decision @ ("accept" | "reject" | "note")] => {
                let decision = match decision {
                    "accept" => Decision::Accept,
                    "reject" => Decision::Reject,
                    _ => Decision::Note,
                };
                self.resolve(reason, decision)
            }
            ["resolve", reason, "bind", order] => self.resolve(reason, Decision::Bind(id(order))),
            ["stop", order] => {
                let task = TaskKey::grant(id(order), Unit::Order);
                let stamp = self.stamp();
                self.commit(&[Command::CancelTask(CancelTask { stamp, task })])
            }
            [word @ ("revoke" | "reinstate"), order] => {
                let (stamp, granted) = (self.stamp(), word == "reinstate");
                let set = SetEntitlement { stamp, order: id(order), unit: Unit::Order, granted };
                self.commit(&[Command::SetEntitlement(set)])
            }
            ["outside", order, word, receipt, amount, unit] => {
                let what = match word {
                    "paid" => Outside::Paid,
                    "paid-reversed" => Outside::PaidReversed,
                    payment => Outside::Refunded(a_payment(payment)),
                };
                let (stamp, money) = (self.stamp(), money(amount, unit));
                let mark = MarkOutside { stamp, order: id(order), id: id(receipt), money, what };
                self.commit(&[Command::MarkOutside(mark)])
            }
            ["revive", order] => {
                let stamp = self.stamp();
                self.commit(&[Command::ReviveOrder(ReviveOrder { stamp, order: id(order) })])
            }
            ["reprocess", event, ..] => {
                let text = line.trim_start_matches("reprocess ");
                let (stored, read) = (a_notice(&format!("{event} unreadable")), a_notice(text));
                let notice = Notice { reading: read.reading, mode: read.mode, ..stored };
                let (stamp, source) = (self.stamp(), id("shop"));
                self.commit(&[Command::Reprocess(Reprocess { stamp, source, account: account(), notice })])
            }
            ["audit"] => self.audit(),
            ["wait", seconds] => {
                self.now = self.now.plus_ms(1_000 * seconds.parse::<i64>().expect("seconds"));
                vec![]
            }
            ["retry-task", ref task @ ..] => {
                let (task, stamp) = (self.a_task(task), self.stamp());
                self.commit(&[Command::RetryTask(RetryTask { stamp, task })])
            }
            [
                "claim" | "renew" | "prepare" | "settle" | "tasks" | "attempts" | "due" | "sweep" | "effect"
                | "grant-fails",
                ..,
            ] => self.outbox(line, &options),
            ["grant"] => {
                grant_all_at(&*self.store, self.now, &self.policy).expect("the store works");
                vec![]
            }
            ["receive", ..] => self.receive(line.trim_start_matches("receive ")),
            ["show", order] => vec![self.show(&id(order))],
            ["cases"] => self.cases(),
            ["events"] => self.events(),
            ["payment", payment] => self.payment(payment),
            _ => panic!("the suite does not know {line:?}"),
        }
    }

    pub(super) fn stamp(&mut self) -> paidonce_ledger::Stamp {
        self.commands += 1;
        stamp(&format!("command-{}", self.commands))
    }

    fn set_policy(&mut self, options: &[(&str, &str)]) -> Vec<String> {
        let source = self.policy.sources.entry(id::<SourceName>("shop")).or_default();
        for option in options {
            match option {
                ("unmatched", "keep") => source.unmatched = Unmatched::Keep,
                ("unmatched", "reject") => source.unmatched = Unmatched::Reject,
                ("unmatched", "hold") => source.unmatched = Unmatched::Hold,
                ("hints", "own_ids") => source.hints = Hints::OwnIds,
                ("refund_blocks", "any") => self.policy.refund_blocks = RefundBlocks::Any,
                ("after_refund", word) => self.policy.after_grant.refund = after_grant(word),
                ("after_dispute", word) => self.policy.after_grant.dispute = after_grant(word),
                ("after_reversal", word) => self.policy.after_grant.reversal = after_grant(word),
                ("disputes", "ignore") => self.policy.disputes = Disputes::Ignore,
                ("refund_restocks", "on") => self.policy.refund_restocks = true,
                ("late", "revive") => self.policy.late = Late::Revive,
                ("truth", "fetch") => source.truth = Truth::Fetch,
                ("lookup_patience", seconds) => {
                    let patience_ms = 1_000 * seconds.parse::<i64>().expect("seconds");
                    let rule = LookupRule { patience_ms, ..LookupRule::default() };
                    self.policy.lookups.insert(account(), rule);
                }
                ("grant_tries", number) => {
                    let attempts_max = number.parse().expect("a number");
                    let (first_ms, longest_ms) = (1_000, 4_000);
                    self.policy.grant_retries = Retries { attempts_max, first_ms, longest_ms };
                }
                ("grant_check", seconds) => {
                    self.policy.grant_check_ms = Some(1_000 * seconds.parse::<i64>().expect("seconds"));
                }
                ("unbound_after", seconds) => {
                    self.policy.unbound_after_ms = Some(1_000 * seconds.parse::<i64>().expect("seconds"));
                }
                ("body_retention", seconds) => {
                    self.policy.body_retention_ms = Some(1_000 * seconds.parse::<i64>().expect("seconds"));
                }
                ("tolerance", minor) => {
                    let minor = minor.parse().expect("minor units");
                    self.policy.tolerance_minor.insert(account(), minor);
                }
                _ => panic!("no policy {option:?}"),
            }
        }
        vec![]
    }

    fn place(&mut self, order: &str, total: &Money, options: &[(&str, &str)]) -> Vec<String> {
        let mut command = place(order, total, &[]);
        command.stamp = self.stamp();
        for (name, value) in options {
            match *name {
                "ref" => command.references.push(reference(value)),
                "lines" => {
                    command.fulfil = Fulfil::Line;
                    command.lines = vec![command.lines[0].clone(); value.parse().expect("a number of lines")];
                }
                "buy" => command.lines = value.split(',').map(a_line).collect(),
                "customer" => command.customer = Some(id(value)),
                "key" => command.stamp = stamp(value),
                "expires" => {
                    let seconds: i64 = value.parse().expect("seconds");
                    command.expires_at = Some(self.now.plus_ms(1_000 * seconds));
                }
                _ => panic!("no option {name:?} of an order"),
            }
        }
        self.commit(&[Command::PlaceOrder(command)])
    }

    fn expect(&mut self, order: &str, text: &str, expected: &Money) -> Vec<String> {
        let stamp = self.stamp();
        let reference = paidonce_ledger::NewReference { expected: Some(expected.clone()), ..reference(text) };
        self.commit(&[Command::RegisterReference(RegisterReference { stamp, order: id(order), reference })])
    }

    pub(super) fn commit(&self, batch: &[Command]) -> Vec<String> {
        let replies = self.store.commit(batch, self.now, &self.policy).expect("the store works");
        replies.iter().flat_map(answer).collect()
    }

    /// `EVENT PAYMENT FACT, FACT .. [+ EVENT ..] [option=..]`
    fn receive(&self, text: &str) -> Vec<String> {
        let words: Vec<_> = text.split_whitespace().collect();
        let (_, options) = options(&words);
        let times = options
            .iter()
            .find(|(name, _)| *name == "times")
            .map_or(1, |(_, n)| n.parse().expect("a number"));
        let receive = Receive {
            source: id("shop"),
            account: account(),
            notices: text.split(" + ").map(a_notice).collect(),
            trace: None,
        };
        let answers = (0..times).map(|_| self.commit(&[Command::Receive(receive.clone())]));
        let mut answers: Vec<_> = answers.flatten().collect();
        answers.dedup();
        answers
    }

    /// Decides about the one open case of this reason.
    fn resolve(&mut self, reason: &str, decision: Decision) -> Vec<String> {
        let open = CaseFilter { open: true, order: None };
        let cases = self.store.cases(&open, &Page::first(100)).expect("readable").rows;
        let found = cases.into_iter().find(|(key, _)| key.reason.as_str() == reason);
        let Some((case, _)) = found else { return vec![format!("no open case says {reason}")] };
        let stamp = paidonce_ledger::Stamp { reason: Some("asked the customer".into()), ..self.stamp() };
        self.commit(&[Command::ResolveCase(ResolveCase { stamp, case, decision })])
    }

    fn audit(&self) -> Vec<String> {
        let ledger = self.store.snapshot().expect("readable");
        let line = |audit: &paidonce_ledger::Audit| {
            let reason = audit.reason.as_ref().map(|reason| format!(", {reason}")).unwrap_or_default();
            let subject = audit.subject.split(' ').next().unwrap_or_default();
            let order = audit.order.as_ref().map(|order| format!(" of {order}")).unwrap_or_default();
            format!("{} {} a {subject}{order}{reason}", audit.by, audit.action)
        };
        let mut lines: Vec<_> = ledger.audits.rows().values().map(line).collect();
        lines.sort();
        lines
    }

    fn show(&self, order: &OrderId) -> String {
        let ledger = self.store.load(&Keys::from([Key::Order(order.clone())])).expect("readable");
        let Some(row) = ledger.orders.get(order) else { return format!("{order} is not there") };
        let payments = ledger.payments_of(row).expect("the store loads an order's payments with it");
        let standing = Standing::of(order, row, &payments, &self.policy);
        let granted: Vec<_> = ledger
            .entitlements_of(order)
            .map(|(unit, row)| match (&row.revoked_at, &row.revoked_by) {
                (None, _) => unit.to_string(),
                (Some(_), None) => format!("({unit} taken back)"),
                (Some(_), Some(by)) => format!("({unit} taken back by {by})"),
            })
            .collect();
        let due: Vec<_> = ledger
            .tasks_of(&Subject::Order(order.clone()))
            .filter(|(key, task)| task.state == TaskState::Pending && matches!(key.work, Work::Grant(_)))
            .filter_map(|(key, _)| key.unit().map(|unit| unit.to_string()))
            .collect();
        let list = |words: Vec<String>| if words.is_empty() { "-".to_owned() } else { words.join(" ") };
        let captured = Money::new(standing.captured_minor, row.total.unit().clone()).expect("an amount");
        let reversed = Money::new(standing.reversed_minor, row.total.unit().clone()).expect("an amount");
        format!(
            "{order} {}: captured {}, reversed {}, total {}; granted {}; due {}",
            standing.word,
            captured.to_decimal(),
            reversed.to_decimal(),
            row.total,
            list(granted),
            list(due)
        )
    }

    fn cases(&self) -> Vec<String> {
        let filter = CaseFilter { open: true, order: None };
        let cases = self.store.cases(&filter, &Page::first(100)).expect("readable").rows;
        let mut lines: Vec<_> = cases
            .iter()
            .map(|(key, case)| format!("{} {}: {}", key.reason, key.subject, case.detail))
            .collect();
        lines.sort();
        if lines.is_empty() { vec!["none".to_owned()] } else { lines }
    }

    fn events(&self) -> Vec<String> {
        let events = self.store.events(&EventFilter::default(), &Page::first(100)).expect("readable").rows;
        let line = |(key, event): &(paidonce_ledger::EventKey, paidonce_ledger::Event)| {
            let body = if event.dropped_at.is_some() { ", body dropped" } else { "" };
            format!("{} {}, {} duplicate(s){body}", key.id, event.outcome.as_str(), event.duplicates)
        };
        let mut lines: Vec<_> = events.iter().map(line).collect();
        lines.sort();
        if lines.is_empty() { vec!["none".to_owned()] } else { lines }
    }

    fn payment(&self, payment: &str) -> Vec<String> {
        let key = a_payment(payment);
        let ledger = self.store.load(&Keys::from([Key::Payment(key.clone())])).expect("readable");
        let Some(row) = ledger.payments.get(&key) else { return vec![format!("{payment} is not there")] };
        let order =
            row.order.as_ref().map_or_else(|| "no order".to_owned(), |order| format!("order {order}"));
        let mut lines = vec![format!("{payment} serves {order}")];
        for (fact, value) in ledger.facts_of(&key) {
            let amount = value.amount_minor.map_or_else(|| "?".to_owned(), |amount| amount.to_string());
            let unit = fact.unit().map_or_else(|| "?".to_owned(), ToString::to_string);
            lines.push(format!("{} {amount} minor units of {unit}, rank {}", fact.kind(), value.rank));
        }
        lines
    }
}

fn answer(reply: &Reply) -> Vec<String> {
    match reply {
        Reply::Received(events) => events
            .iter()
            .map(|event| {
                let order = event.order.as_ref().map(|order| format!(", order {order}")).unwrap_or_default();
                format!("{} {}{order}", event.event, event.received.as_str())
            })
            .collect(),
        Reply::Placed { order, .. } => vec![format!("placed {order}")],
        Reply::Refused(refusal) => vec![format!("refused: {refusal}")],
        other => vec![format!("{other:?}").to_lowercase()],
    }
}

fn after_grant(word: &str) -> AfterGrant {
    match word {
        "keep" => AfterGrant::Keep,
        "revoke" => AfterGrant::Revoke,
        "review" => AfterGrant::Review,
        _ => panic!("no policy {word:?} after a grant"),
    }
}

pub(super) fn a_payment(payment: &str) -> PaymentKey {
    PaymentKey { account: account(), id: id(payment) }
}

fn a_notice(text: &str) -> Notice {
    let words: Vec<_> = text.split_whitespace().collect();
    let (plain, options) = options(&words);
    let mut made = match plain[..] {
        [event, "ignored"] => notice(event, Reading::Ignored),
        [event, "unreadable"] => notice(event, Reading::Unreadable("data.object.id is absent".to_owned())),
        [event, payment, ref facts @ ..] => {
            let mut claims =
                Claims { payment: id(payment), references: vec![], hints: vec![], facts: vec![] };
            let facts = facts.join(" ");
            claims.facts = facts.split(',').map(|fact| a_fact(fact.trim(), event, payment)).collect();
            for (name, value) in &options {
                match *name {
                    "ref" => claims.references.push(id(value)),
                    "hint" => claims.hints.push(id(value)),
                    _ => {}
                }
            }
            notice(event, Reading::Facts(claims))
        }
        _ => panic!("no event {text:?}"),
    };
    for option in options {
        match option {
            ("account", name) => made.account = Some(id(name)),
            ("mode", mode) => made.mode = Mode::parse(mode),
            ("bytes", "other") => made = with_other_bytes(&made),
            _ => {}
        }
    }
    made
}

fn a_fact(text: &str, event: &str, payment: &str) -> Fact {
    let words: Vec<_> = text.split_whitespace().collect();
    let amount = |words: &[&str]| match *words {
        [amount, unit] => Some(money(amount, unit)),
        _ => None,
    };
    match words[..] {
        ["captured", ref sum @ ..] => Fact::captured(id(payment), CaptureState::Settled, amount(sum)),
        ["capture", capture, ref sum @ ..] => Fact::captured(id(capture), CaptureState::Settled, amount(sum)),
        ["capture-pending", ref sum @ ..] => Fact::captured(id(payment), CaptureState::Pending, amount(sum)),
        ["capture-reversed", ref sum @ ..] => {
            Fact::captured(id(payment), CaptureState::Reversed, amount(sum))
        }
        ["pending", ref sum @ ..] => Fact::pending(amount(sum)),
        ["authorized", ref sum @ ..] => Fact::authorized(amount(sum)),
        ["attempt-failed"] => Fact::attempt_failed(id(event)),
        ["ended", "failed"] => Fact::ended(Ending::Failed),
        ["ended", "cancelled"] => Fact::ended(Ending::Cancelled),
        ["ended", "expired"] => Fact::ended(Ending::Expired),
        ["refunded", refund, ref sum @ ..] => Fact::refunded(id(refund), RefundState::Succeeded, amount(sum)),
        ["refund-pending", refund, ref sum @ ..] => {
            Fact::refunded(id(refund), RefundState::Pending, amount(sum))
        }
        ["refund-failed", refund, ref sum @ ..] => {
            Fact::refunded(id(refund), RefundState::Failed, amount(sum))
        }
        ["total-refunded", ref sum @ ..] => Fact::total_refunded(amount(sum)),
        ["total-captured", ref sum @ ..] => Fact::total_captured(amount(sum)),
        ["disputed", dispute, stage, state, ref sum @ ..] => {
            let states = ["warning", "open", "closed", "won", "lost"];
            let rank = states.iter().position(|word| *word == state).expect("a state of a dispute");
            let state = DisputeState::of_rank(u8::try_from(rank).expect("few states"));
            Fact::disputed(id(dispute), stage.parse().expect("a stage"), state, amount(sum))
        }
        _ => panic!("no fact {text:?}"),
    }
}
