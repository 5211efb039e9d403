//! The suite that *defines* a store: what is not here is not promised. A backend hands it a [`Harness`].
//!
//! Scenarios are text that a finance person can read (`scenarios/*.txt`); what needs threads or broken commits is
//! code in [`concurrency`] and [`interruption`]; [`differential`] compares a store with the ledger itself.

mod catalogue;
mod concurrency;
mod differential;
mod interruption;
mod listing;
mod outbox;
mod retention;
mod scenario;
mod transfer;

use paidonce_ledger::{Command, Ledger, Policy, Reply, Timestamp, invariants};

use crate::{Due, Result, Store};

/// The moment at which the suite's commands are executed, unless one says otherwise.
pub const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// Where a commit is to break, once: after everything before it was written, before anything is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// While the pending work is written.
    Task,
    /// While the entitlement is written.
    Entitlement,
    /// While the event is written.
    Event,
}

/// One backend under test.
pub trait Harness {
    /// Why this backend cannot be tried here, for example because no server answers: the case is skipped then, and
    /// says so. Under `PAIDONCE_TEST_REQUIRE=1` that is a failure.
    fn missing(&self) -> Option<String> {
        None
    }

    /// A store that holds nothing yet, at a place of its own.
    fn fresh(&self) -> Box<dyn Store>;

    /// Another connection to the same place as a store that [`Harness::fresh`] gave last, as a second process would
    /// have; `None` where a backend has no such thing.
    fn second(&self) -> Option<Box<dyn Store>>;

    /// Makes commits of the last fresh store break at `at` until the answer is dropped.
    fn break_at<'a>(&'a self, store: &'a dyn Store, at: Break) -> Box<dyn Broken + 'a>;
}

/// A break that lasts until it is dropped.
pub trait Broken {}

/// One case: it panics if the store is none.
pub type Case = fn(&dyn Harness);

/// Every case of the suite by name. `cargo test` runs each as a test of its own through [`conformance_tests`].
pub const CASES: &[(&str, Case)] = &[
    ("scenarios", scenario::scenarios),
    ("differential", differential::differential),
    ("p2_twenty_copies_at_once_on_eight_threads", concurrency::twenty_copies),
    ("p3_twenty_grants_at_once_on_eight_threads", concurrency::twenty_grants),
    ("k04_fifty_copies_from_two_processes", concurrency::two_processes),
    ("k07_registration_and_receipt_at_once", concurrency::registration_and_receipt),
    ("p4_interrupted_between_event_and_task", interruption::event_and_task),
    ("p4_interrupted_between_entitlement_and_completion", interruption::entitlement_and_completion),
    ("p4_interrupted_before_the_event", interruption::before_the_event),
    ("p1_what_was_acknowledged_is_there_when_opened_again", interruption::opened_again),
    ("ids_differ_by_every_byte", listing::ids_differ),
    ("bodies_come_back_byte_for_byte", listing::bodies),
    ("amounts_beyond_64_bits_come_back", listing::amounts),
    ("pages_cover_a_listing_once", listing::pages),
    ("filters_agree_with_the_rows", listing::filters),
    ("audits_are_found_by_order_and_name", listing::audits),
    ("api_keys_are_found_by_digest", listing::api_keys),
    ("products_come_back_in_pages", listing::products),
    ("p13_buyers_of_the_last_pieces_from_two_processes", concurrency::last_pieces),
    ("a_ledger_moves_here_and_back", transfer::moves_here_and_back),
    ("an_interrupted_import_goes_on", transfer::interrupted_import_goes_on),
    ("an_import_over_something_else_is_refused", transfer::import_over_something_else_is_refused),
    ("a_body_that_was_dropped_is_gone_and_its_event_known", retention::dropped),
    ("old_bodies_are_found_in_steps", retention::in_steps),
];

/// Runs one case.
///
/// # Panics
/// The case fails, or there is none of that name.
pub fn run(harness: &dyn Harness, name: &str) {
    if skipped(name, harness.missing().as_deref()) {
        return;
    }
    let (_, case) = CASES.iter().find(|(case, _)| *case == name).expect("a case of the suite");
    case(harness);
}

/// Whether a test is to be skipped because something that it needs is missing. Says so.
///
/// # Panics
/// It is missing and `PAIDONCE_TEST_REQUIRE=1` requires it.
// What a test prints is for whoever runs it.
#[allow(clippy::print_stderr)]
pub fn skipped(test: &str, missing: Option<&str>) -> bool {
    let Some(missing) = missing else { return false };
    let required = std::env::var("PAIDONCE_TEST_REQUIRE").is_ok_and(|value| value == "1");
    assert!(!required, "{test} is required, and {missing}");
    eprintln!("SKIPPED {test}: {missing}");
    true
}

/// Makes one `#[test]` of each case for the harness that an expression gives.
#[macro_export]
macro_rules! conformance_tests {
    ($harness:expr) => {
        $crate::conformance_tests! { @each $harness;
            scenarios differential p2_twenty_copies_at_once_on_eight_threads
            p3_twenty_grants_at_once_on_eight_threads k04_fifty_copies_from_two_processes
            k07_registration_and_receipt_at_once p4_interrupted_between_event_and_task
            p4_interrupted_between_entitlement_and_completion p4_interrupted_before_the_event
            p1_what_was_acknowledged_is_there_when_opened_again ids_differ_by_every_byte
            bodies_come_back_byte_for_byte amounts_beyond_64_bits_come_back pages_cover_a_listing_once
            filters_agree_with_the_rows audits_are_found_by_order_and_name api_keys_are_found_by_digest
            products_come_back_in_pages p13_buyers_of_the_last_pieces_from_two_processes
            a_ledger_moves_here_and_back an_interrupted_import_goes_on an_import_over_something_else_is_refused
            a_body_that_was_dropped_is_gone_and_its_event_known old_bodies_are_found_in_steps
        }
    };
    (@each $harness:expr; $($name:ident)+) => {
        $(
            #[test]
            fn $name() {
                $crate::conformance::run(&$harness, stringify!($name));
            }
        )+
        #[test]
        fn every_case_of_the_suite_is_run() {
            // This list and the suite's own must not drift apart.
            let suite: Vec<_> = $crate::conformance::CASES.iter().map(|(name, _)| *name).collect();
            assert_eq!([$(stringify!($name)),+].as_slice(), suite);
        }
    };
}

/// Commits and checks the invariants of everything that is stored then.
pub(crate) fn commit(store: &dyn Store, batch: &[Command], policy: &Policy) -> Vec<Reply> {
    let replies = store.commit(batch, NOW, policy).expect("the store works");
    sound(store, policy);
    replies
}

/// Asserts that everything stored holds together.
pub(crate) fn sound(store: &dyn Store, policy: &Policy) -> Ledger {
    let ledger = store.snapshot().expect("the store can be read");
    assert_eq!(invariants::check_settled(&ledger, policy), []);
    ledger
}

/// Grants whatever is due until nothing is.
pub(crate) fn grant_all(store: &dyn Store, policy: &Policy) -> Result<()> {
    grant_all_at(store, NOW, policy)
}

/// Grants whatever is due at a moment.
pub(crate) fn grant_all_at(store: &dyn Store, now: Timestamp, policy: &Policy) -> Result<()> {
    loop {
        let due = store.due(&Due::Grants, now, 100)?;
        if due.is_empty() {
            return Ok(());
        }
        let grants: Vec<_> = due.into_iter().map(Command::Grant).collect();
        store.commit(&grants, now, policy)?;
    }
}
