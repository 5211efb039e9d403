//! What stands in the rows after each command, where no scenario shows it: revisions, moments, who, and what stays.

use paidonce_ledger::testing::{
    about, account, cancel, eur, id, money, notice, place, receive, register, stamp,
};
use paidonce_ledger::{
    AddKey, AfterGrant, AskLookup, Body, CancelTask, CaptureState, CaseKey, Claims, Command, Decision,
    Digest, DisputeState, Entitlement, Event, EventKey, EventOutcome, Fact, FactKey, FactValue, Fulfil,
    Ledger, MarkOutside, Notice, Observe, Order, OrderId, OrderState, Outside, Owed, PaymentAccount,
    PaymentKey, Policy, Reading, Reason, RefundState, Refusal, Reply, Reprocess, ResolveCase, RetryTask,
    ReviveOrder, RevokeKey, Scope, SetEntitlement, Standing, Task, TaskKey, TaskState, Timestamp, Unit,
};

/// A ledger, and a clock that every command moves.
struct Book {
    ledger: Ledger,
    policy: Policy,
    now: i64,
}

impl Book {
    fn new() -> Self {
        Self { ledger: Ledger::whole(), policy: Policy::default(), now: 0 }
    }

    /// An order of 10.00 that pays by `pi_1`.
    fn placed() -> Self {
        let mut book = Self::new();
        book.run(&Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"])));
        book
    }

    /// Paid and granted.
    fn granted() -> Self {
        let mut book = Self::placed();
        book.paid("evt_1", "10");
        book.run(&Command::Grant(grant(Unit::Order)));
        book
    }

    fn run(&mut self, command: &Command) -> Reply {
        self.now += 1;
        self.ledger.execute(command, Timestamp(self.now), &self.policy)
    }

    fn hear(&mut self, event: &str, fact: Fact) -> Reply {
        self.run(&receive(vec![about(event, "pi_1", vec![fact])]))
    }

    fn paid(&mut self, event: &str, amount: &str) -> Reply {
        self.hear(event, Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur(amount))))
    }

    fn refunded(&mut self, event: &str, refund: &str, state: RefundState, amount: &str) -> Reply {
        self.hear(event, Fact::refunded(id(refund), state, Some(eur(amount))))
    }

    fn order(&self) -> &Order {
        self.ledger.orders.get(&id("1001")).unwrap()
    }

    fn entitlement(&self, unit: Unit) -> Entitlement {
        self.ledger.entitlements.get(&(id("1001"), unit)).unwrap().clone()
    }

    fn task(&self, unit: Unit) -> Task {
        self.ledger.tasks.get(&grant(unit)).unwrap().clone()
    }

    fn event(&self, event: &str) -> Event {
        self.ledger.events.get(&EventKey { account: account(), id: id(event) }).unwrap().clone()
    }

    fn fact(&self, key: &FactKey) -> FactValue {
        *self.ledger.facts.get(&(payment("pi_1"), key.clone())).unwrap()
    }

    fn standing(&self) -> Standing {
        let payments = self.ledger.payments_of(self.order()).unwrap();
        Standing::of(&id("1001"), self.order(), &payments, &self.policy)
    }

    fn account(&self) -> PaymentAccount {
        self.standing().payments[0].1.clone()
    }

    fn open_cases(&self) -> Vec<Reason> {
        let open = self.ledger.cases.rows().iter().filter(|(_, case)| case.resolution.is_none());
        open.map(|(key, _)| key.reason).collect()
    }

    fn set(&mut self, granted: bool) -> Reply {
        let stamp = stamp(&format!("set-{}", self.now));
        self.run(&Command::SetEntitlement(SetEntitlement {
            stamp,
            order: id("1001"),
            unit: Unit::Order,
            granted,
        }))
    }
}

fn grant(unit: Unit) -> TaskKey {
    TaskKey::grant(id("1001"), unit)
}

fn payment(text: &str) -> PaymentKey {
    PaymentKey { account: account(), id: id(text) }
}

#[test]
fn a_grant_says_at_which_revision_and_after_how_many_tries() {
    let book = Book::granted();
    let (row, task) = (book.entitlement(Unit::Order), book.task(Unit::Order));
    // 1 when placed, 2 when paid, 3 when granted.
    assert_eq!((row.order_revision, row.granted_at, book.order().revision), (3, Timestamp(3), 3));
    assert_eq!((task.state, task.attempts, task.order_revision), (TaskState::Done, 1, 2));
    assert_eq!((task.created_at, task.due_at), (Timestamp(2), Timestamp(2)));
}

#[test]
fn what_says_nothing_new_moves_no_revision() {
    let mut book = Book::placed();
    book.paid("evt_1", "4");
    assert_eq!((book.open_cases(), book.order().revision), (vec![Reason::AmountShort], 2));
    book.paid("evt_1", "4");
    assert_eq!(book.order().revision, 2);
    // Another event of the same fact: the event is new, the order is not, and its case stands as it stood.
    book.paid("evt_2", "4");
    assert_eq!((book.open_cases(), book.order().revision), (vec![Reason::AmountShort], 3));
    let before = book.ledger.cases.clone();
    book.run(&register("1001", "pi_1"));
    assert_eq!((&book.ledger.cases, book.order().revision), (&before, 3));
}

#[test]
fn a_task_that_comes_back_is_due_then_and_not_before() {
    let mut book = Book::placed();
    book.paid("evt_1", "10");
    let stop = CancelTask { stamp: stamp("stop"), task: grant(Unit::Order) };
    book.run(&Command::CancelTask(stop));
    assert_eq!(book.task(Unit::Order).state, TaskState::Stopped);
    book.refunded("evt_2", "re_1", RefundState::Succeeded, "10");
    // A person's stop is not taken back by what comes.
    assert_eq!(book.task(Unit::Order).state, TaskState::Stopped);
    book.refunded("evt_3", "re_1", RefundState::Failed, "10");
    let retry = RetryTask { stamp: stamp("retry"), task: grant(Unit::Order) };
    assert_eq!(book.run(&Command::RetryTask(retry)), Reply::Retried);
    let task = book.task(Unit::Order);
    assert_eq!((task.state, task.created_at, task.due_at), (TaskState::Pending, Timestamp(2), Timestamp(6)));
    book.refunded("evt_4", "re_2", RefundState::Pending, "10");
    assert_eq!(book.task(Unit::Order).state, TaskState::Cancelled);
    book.refunded("evt_5", "re_2", RefundState::Failed, "10");
    let task = book.task(Unit::Order);
    assert_eq!((task.state, task.due_at), (TaskState::Pending, Timestamp(8)));
    assert_eq!((task.order_revision, book.order().revision), (8, 8));
}

#[test]
fn taking_back_and_giving_back_say_who_when_and_at_which_revision() {
    let mut book = Book::granted();
    assert_eq!(book.set(false), Reply::Done);
    let row = book.entitlement(Unit::Order);
    assert_eq!((row.revoked_at, row.order_revision), (Some(Timestamp(4)), 4));
    assert_eq!((row.revoked_by.as_deref(), row.kept_by.as_deref()), (Some("tester"), None));
    // Again: the first moment stays, and so does everything else.
    book.set(false);
    assert_eq!(book.entitlement(Unit::Order), row);
    book.set(true);
    let row = book.entitlement(Unit::Order);
    assert_eq!((row.revoked_at, row.order_revision), (None, 5));
    assert_eq!((row.revoked_by.as_deref(), row.kept_by.as_deref()), (None, Some("tester")));
    book.set(true);
    assert_eq!(book.entitlement(Unit::Order), row);
}

#[test]
fn what_the_policy_takes_back_it_gives_back_at_its_own_revision() {
    let mut book = Book::granted();
    book.policy.after_grant.refund = AfterGrant::Revoke;
    book.refunded("evt_2", "re_1", RefundState::Succeeded, "10");
    let row = book.entitlement(Unit::Order);
    assert_eq!((row.revoked_at, row.revoked_by.as_deref()), (Some(Timestamp(4)), None));
    assert_eq!((row.order_revision, book.order().revision), (4, 4));
    book.refunded("evt_3", "re_1", RefundState::Failed, "10");
    let row = book.entitlement(Unit::Order);
    assert_eq!((row.revoked_at, row.order_revision), (None, 5));
}

#[test]
fn a_person_who_keeps_it_is_not_asked_again_and_one_who_takes_it_neither() {
    for granted in [true, false] {
        let mut book = Book::granted();
        book.set(granted);
        book.refunded("evt_2", "re_1", RefundState::Succeeded, "10");
        assert_eq!(book.open_cases(), [], "kept: {granted}");
    }
    let mut book = Book::granted();
    book.refunded("evt_2", "re_1", RefundState::Succeeded, "10");
    assert_eq!(book.open_cases(), [Reason::RefundAfterGrant]);
}

#[test]
fn a_duplicate_keeps_the_moment_of_the_last() {
    let mut book = Book::placed();
    book.paid("evt_1", "10");
    book.paid("evt_1", "10");
    let event = book.event("evt_1");
    assert_eq!((event.received_at, event.last_at, event.duplicates), (Timestamp(2), Timestamp(3), 1));
}

#[test]
fn only_what_was_applied_is_about_a_payment() {
    let mut book = Book::placed();
    let capture = Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur("10")));
    let other = Notice { account: Some(id("another")), ..about("evt_1", "pi_1", vec![capture]) };
    book.run(&receive(vec![other]));
    let event = book.event("evt_1");
    assert_eq!((event.outcome, event.payment), (EventOutcome::Held(Reason::WrongAccount), None));
}

#[test]
fn an_event_that_is_read_again_is_kept_as_it_reads_now() {
    let mut book = Book::placed();
    let stored = notice("evt_1", Reading::Unreadable("data.object.id is absent".to_owned()));
    book.run(&receive(vec![stored.clone()]));
    let capture = Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur("10")));
    let claims = Claims { payment: id("pi_1"), references: vec![], hints: vec![], facts: vec![capture] };
    let content = Digest::of_bytes(b"all but the counter");
    let again = Notice { kind: "paid".into(), content, reading: Reading::Facts(claims), ..stored.clone() };
    let reprocess = |notice: &Notice, n: u8| {
        Command::Reprocess(Reprocess {
            stamp: stamp(&format!("reprocess-{n}")),
            source: id("shop"),
            account: account(),
            notice: notice.clone(),
        })
    };
    let other = Notice { body: Body::new(b"other".to_vec()), ..again.clone() };
    assert_eq!(book.run(&reprocess(&other, 1)), Reply::Refused(Refusal::OtherBytes));
    assert!(matches!(book.run(&reprocess(&again, 2)), Reply::Received(_)));
    let event = book.event("evt_1");
    assert_eq!((&*event.kind, event.content, event.payment), ("paid", content, Some(id("pi_1"))));
    assert_eq!((event.received_at, event.outcome), (Timestamp(2), EventOutcome::Applied));
    assert_eq!(book.run(&reprocess(&again, 3)), Reply::Refused(Refusal::AlreadyApplied));
}

#[test]
fn a_reference_keeps_what_was_expected_and_another_amount_is_refused() {
    let mut book = Book::placed();
    let expecting = |amount: &str| {
        let Command::RegisterReference(mut command) = register("1001", "pi_2") else { unreachable!() };
        command.stamp = stamp(&format!("register-{amount}"));
        command.reference.expected = Some(eur(amount));
        Command::RegisterReference(command)
    };
    assert_eq!(book.run(&expecting("4")), Reply::Registered);
    let row = book.ledger.references.rows().values().find(|row| row.expected.is_some()).unwrap();
    assert_eq!((row.order.clone(), row.expected.clone()), (Some(id::<OrderId>("1001")), Some(eur("4"))));
    assert_eq!(book.run(&expecting("5")), Reply::Refused(Refusal::ReferenceDiffers));
}

#[test]
fn a_key_that_was_revoked_keeps_its_first_moment() {
    let mut book = Book::new();
    let digest = Digest::of_bytes(b"a key");
    let add = AddKey { stamp: stamp("add"), name: id("shop"), digest, scope: Scope::View };
    book.run(&Command::AddKey(add));
    for n in 0..2 {
        book.run(&Command::RevokeKey(RevokeKey { stamp: stamp(&format!("revoke-{n}")), name: id("shop") }));
    }
    let row = book.ledger.api_keys.get(&id("shop")).unwrap();
    assert_eq!((row.created_at, row.revoked_at), (Timestamp(1), Some(Timestamp(2))));
}

#[test]
fn a_revived_order_forgets_what_covered_it_when_it_was_closed() {
    let mut book = Book::placed();
    book.paid("evt_1", "4");
    book.run(&cancel("1001"));
    assert_eq!(
        (book.order().state.clone(), book.order().closed_covering_minor),
        (OrderState::Cancelled, 400)
    );
    book.run(&Command::ReviveOrder(ReviveOrder { stamp: stamp("revive"), order: id("1001") }));
    assert_eq!((book.order().state.clone(), book.order().closed_covering_minor), (OrderState::Open, 0));
}

#[test]
fn money_that_never_came_outside_cannot_go_back_outside() {
    let mut book = Book::placed();
    let mut mark = |n: u8, what| {
        let stamp = stamp(&format!("outside-{n}"));
        let (order, id, money) = (id("1001"), id("receipt"), eur("10"));
        book.run(&Command::MarkOutside(MarkOutside { stamp, order, id, money, what }))
    };
    assert_eq!(mark(1, Outside::PaidReversed), Reply::Refused(Refusal::UnknownPayment));
    assert_eq!(mark(2, Outside::Refunded(payment("pi_9"))), Reply::Refused(Refusal::UnknownPayment));
    assert_eq!(mark(3, Outside::Paid), Reply::Done);
    assert_eq!(mark(4, Outside::PaidReversed), Reply::Done);
}

#[test]
fn a_case_keeps_the_word_and_the_reason_of_whoever_decided() {
    let mut book = Book::placed();
    book.paid("evt_1", "4");
    let case: CaseKey = book.ledger.cases.rows().keys().next().unwrap().clone();
    let stamp = paidonce_ledger::Stamp { reason: Some("goodwill".into()), ..stamp("resolve") };
    book.run(&Command::ResolveCase(ResolveCase { stamp, case: case.clone(), decision: Decision::Accept }));
    let resolution = book.ledger.cases.get(&case).unwrap().resolution.clone().unwrap();
    assert_eq!((&*resolution.note, resolution.by.as_deref()), ("accepted: goodwill", Some("tester")));
    assert_eq!(resolution.at, Timestamp(3));
}

/// A dispute of `pi_1` at stage 1.
fn dispute(state: DisputeState, amount: &str) -> Fact {
    Fact::disputed(id("dp_1"), 1, state, Some(eur(amount)))
}

#[test]
fn a_lookup_settles_the_contradiction_that_it_was_asked_about_and_no_other_fact() {
    let mut book = Book::placed();
    book.paid("evt_1", "10");
    book.hear("evt_2", dispute(DisputeState::Won, "10"));
    book.hear("evt_3", dispute(DisputeState::Lost, "10"));
    assert!(book.account().owed.contains(&Owed::DisputeContradiction));
    book.run(&Command::AskLookup(AskLookup { payment: payment("pi_1") }));
    // The answer says less than is known of the capture (a lower rank, no amount): the join keeps what was known.
    let facts = vec![
        dispute(DisputeState::Won, "8"),
        Fact::captured(id("pi_1"), CaptureState::Pending, Some(eur("6"))),
    ];
    let observe = Observe { payment: payment("pi_1"), number: 1, provider_revision: None, facts };
    assert_eq!(book.run(&Command::Observe(observe)), Reply::Observed);
    let won = book.fact(&dispute(DisputeState::Won, "8").key);
    assert_eq!((won.rank, won.amount_minor), (DisputeState::Won as u8, Some(1_000)));
    let capture = book.fact(&Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur("10"))).key);
    assert_eq!((capture.rank, capture.amount_minor), (CaptureState::Settled as u8, Some(1_000)));
    assert!(book.standing().eligible);
    // A stage that is no contradiction is joined: an older word does not win.
    book.run(&Command::AskLookup(AskLookup { payment: payment("pi_1") }));
    let facts = vec![dispute(DisputeState::Open, "10")];
    let observe = Observe { payment: payment("pi_1"), number: 2, provider_revision: None, facts };
    book.run(&Command::Observe(observe));
    assert_eq!(book.fact(&dispute(DisputeState::Won, "8").key).rank, DisputeState::Won as u8);
}

#[test]
fn totals_count_in_the_orders_own_unit_alone() {
    let usd = |amount: &str| Some(money(amount, "USD"));
    let mut book = Book::placed();
    book.paid("evt_1", "10");
    book.hear("evt_2", Fact::total_captured(usd("99")));
    assert_eq!(book.account().owed, [].into());
    book.hear("evt_3", Fact::total_captured(Some(eur("10"))));
    assert_eq!(book.account().owed, [].into());
    book.hear("evt_4", Fact::total_captured(Some(eur("12"))));
    assert_eq!(book.account().owed, [Owed::CaptureTotal].into());
    let mut book = Book::placed();
    book.paid("evt_1", "10");
    book.hear("evt_2", Fact::total_refunded(usd("0")));
    assert!(!book.account().foreign_reversal);
    book.hear("evt_3", Fact::total_refunded(usd("3")));
    assert!(book.account().foreign_reversal);
    assert_eq!(book.account().owed, [].into());
    book.hear("evt_4", Fact::total_refunded(None));
    assert_eq!(book.account().owed, [Owed::RefundWithoutAmount].into());
    assert!(book.account().foreign_reversal);
}

#[test]
fn a_refund_in_another_unit_is_never_ignored_unless_it_failed() {
    let refund = |state| Fact::refunded(id("re_1"), state, Some(money("3", "USD")));
    let mut book = Book::placed();
    book.paid("evt_1", "10");
    book.hear("evt_2", Fact::refunded(id("re_0"), RefundState::Failed, None));
    assert_eq!(book.account().owed, [].into());
    book.hear("evt_3", Fact::refunded(id("re_0"), RefundState::Succeeded, Some(money("0", "USD"))));
    assert!(!book.account().foreign_reversal);
    book.hear("evt_4", refund(RefundState::Pending));
    assert!(book.account().foreign_reversal && !book.standing().eligible);
    book.hear("evt_5", refund(RefundState::Failed));
    assert!(!book.account().foreign_reversal && book.standing().eligible);
}

#[test]
fn a_capture_without_an_amount_leaves_what_is_pending_pending() {
    let mut book = Book::placed();
    book.hear("evt_1", Fact::captured(id("c_1"), CaptureState::Pending, None));
    assert_eq!((book.account().pending, book.account().owed), (true, [].into()));
    // What is settled without an amount owes a look, and does not end what is pending beside it.
    book.hear("evt_2", Fact::captured(id("c_2"), CaptureState::Settled, None));
    assert_eq!((book.account().pending, book.account().owed), (true, [Owed::NoTotal].into()));
}

#[test]
fn failed_tries_are_counted_and_nothing_came_is_not_all_of_it() {
    let mut book = Book::placed();
    book.hear("evt_1", Fact::attempt_failed(id("evt_1")));
    book.hear("evt_2", Fact::attempt_failed(id("evt_2")));
    let account = book.account();
    assert_eq!((account.attempts_failed, account.wholly_reversed()), (2, false));
}

#[test]
fn why_says_what_is_so_and_nothing_else() {
    let mut book = Book::placed();
    let why = |book: &Book| book.standing().why(book.order()).join("; ");
    assert_eq!(why(&book), "0.00 EUR of 10.00 EUR captured in 0 payment(s)");
    book.hear("evt_1", Fact::pending(Some(eur("10"))));
    assert_eq!(why(&book), "0.00 EUR of 10.00 EUR captured in 1 payment(s); payment pi_1: it is pending");
    book.hear("evt_2", Fact::attempt_failed(id("evt_2")));
    assert!(
        why(&book).ends_with("payment pi_1: it is pending; payment pi_1: a try failed"),
        "{}",
        why(&book)
    );
    book.paid("evt_3", "10");
    assert!(!why(&book).contains("pending"), "{}", why(&book));
    book.refunded("evt_4", "re_1", RefundState::Succeeded, "3");
    assert!(why(&book).contains("; 3.00 EUR went back; "), "{}", why(&book));
    let mut ended = Book::placed();
    ended.hear("evt_1", Fact::pending(Some(eur("10"))));
    ended.hear("evt_2", Fact::ended(paidonce_ledger::Ending::Cancelled));
    assert!(why(&ended).ends_with("payment pi_1: it ended without money"), "{}", why(&ended));
    ended.paid("evt_3", "10");
    assert!(!why(&ended).contains("without money"), "{}", why(&ended));
}

#[test]
fn every_reason_to_look_says_why_and_what_settles_it() {
    let all = [
        Owed::NoTotal,
        Owed::RefundWithoutAmount,
        Owed::RefundTotal,
        Owed::CaptureTotal,
        Owed::Contradiction,
        Owed::DisputeContradiction,
    ];
    let texts: std::collections::BTreeSet<_> = all.iter().map(|owed| owed.why()).collect();
    assert_eq!(texts.len(), all.len());
    assert!(texts.iter().all(|text| text.split(' ').count() > 3));
    assert!(all.iter().all(|owed| owed.settled_by().starts_with("a lookup")));
}

#[test]
fn the_tolerance_is_of_the_accounts_whose_money_counts() {
    let other = paidonce_ledger::Account { name: id("other"), ..account() };
    let mut book = Book::placed();
    book.policy.tolerance_minor = [(other.clone(), 500)].into();
    book.paid("evt_1", "7");
    let Command::RegisterReference(mut command) = register("1001", "pi_9") else { unreachable!() };
    command.reference.account = other.clone();
    book.run(&Command::RegisterReference(command));
    let Command::Receive(mut command) =
        receive(vec![about("evt_9", "pi_9", vec![Fact::pending(Some(eur("3")))])])
    else {
        unreachable!()
    };
    command.account = other;
    book.run(&Command::Receive(command));
    assert_eq!(book.standing().payments.len(), 2);
    assert!(!book.standing().covered, "a payment that brought nothing brings no tolerance");
}

#[test]
fn exactly_the_total_and_the_tolerance_is_neither_short_nor_over() {
    for (amount, word) in [("9.95", "paid"), ("9.94", "part_paid"), ("10.05", "paid"), ("10.06", "overpaid")]
    {
        let mut book = Book::placed();
        book.policy.tolerance_minor = [(account(), 5)].into();
        book.paid("evt_1", amount);
        assert_eq!(book.standing().word.as_str(), word, "{amount}");
    }
}

#[test]
fn an_order_of_nothing_is_paid_and_never_twice() {
    let mut book = Book::new();
    book.run(&Command::PlaceOrder(place("1001", &eur("0"), &["pi_1", "pi_2"])));
    for n in 1..3 {
        let capture = Fact::captured(id(&format!("pi_{n}")), CaptureState::Settled, Some(eur("0")));
        book.run(&receive(vec![about(&format!("evt_{n}"), &format!("pi_{n}"), vec![capture])]));
    }
    assert_eq!((book.standing().word.as_str(), book.standing().eligible), ("paid", true));
}

#[test]
fn each_line_is_a_unit_and_is_granted_at_its_own_revision() {
    let mut book = Book::new();
    let mut order = place("1001", &eur("10"), &["pi_1"]);
    order.fulfil = Fulfil::Line;
    order.lines.push(order.lines[0].clone());
    book.run(&Command::PlaceOrder(order));
    book.paid("evt_1", "10");
    book.run(&Command::Grant(grant(Unit::Line(1))));
    book.run(&Command::Grant(grant(Unit::Line(2))));
    let revisions = [1, 2].map(|n| book.entitlement(Unit::Line(n)).order_revision);
    assert_eq!((revisions, book.order().revision), ([3, 4], 4));
}

#[test]
fn nothing_at_all_is_never_close_enough() {
    let mut book = Book::new();
    book.policy.tolerance_minor = [(account(), 500)].into();
    book.run(&Command::PlaceOrder(place("1001", &eur("4"), &["pi_1"])));
    // A capture of nothing is a payment, and no money.
    book.paid("evt_1", "0");
    assert!(!book.standing().covered);
    book.paid("evt_2", "0.01");
    assert!(book.standing().covered);
}

#[test]
fn a_person_gives_back_what_the_policy_took_and_takes_back_what_was_kept() {
    let mut book = Book::granted();
    book.policy.after_grant.refund = AfterGrant::Revoke;
    book.refunded("evt_2", "re_1", RefundState::Succeeded, "10");
    assert!(book.entitlement(Unit::Order).revoked_at.is_some());
    book.set(true);
    let row = book.entitlement(Unit::Order);
    assert_eq!((row.revoked_at, row.kept_by.as_deref()), (None, Some("tester")));
    book.set(false);
    let row = book.entitlement(Unit::Order);
    assert!(row.revoked_at.is_some());
    assert_eq!((row.kept_by.as_deref(), row.revoked_by.as_deref()), (None, Some("tester")));
}

#[test]
fn a_refund_that_comes_first_is_ahead_and_not_yet_wrong() {
    let mut book = Book::placed();
    book.refunded("evt_1", "re_1", RefundState::Succeeded, "3");
    assert_eq!((book.account().refund_ahead_minor, book.open_cases()), (300, vec![]));
    book.paid("evt_2", "2");
    assert!(book.open_cases().contains(&Reason::RefundAhead));
}

#[test]
fn what_came_late_is_told_less_what_went_back() {
    let mut book = Book::placed();
    book.run(&cancel("1001"));
    book.paid("evt_1", "10");
    book.refunded("evt_2", "re_1", RefundState::Succeeded, "4");
    let late = book
        .ledger
        .cases
        .rows()
        .iter()
        .find(|(key, case)| key.reason == Reason::PaidLate && case.resolution.is_none());
    assert_eq!(late.unwrap().1.detail, "6.00 EUR came; the order is cancelled");
}
