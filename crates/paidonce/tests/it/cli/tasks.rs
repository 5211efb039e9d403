//! `tasks`: what is due, and what can be retried.

use super::Place;

#[test]
fn a_due_task_is_listed_and_retried_and_a_missing_one_refused() {
    let place = Place::new("off");
    place.place_order();
    let missing = place.run(&["tasks", "retry", "1001", "--reason", "customer asks"]);
    assert_eq!(missing.code, 1);
    assert!(missing.err.contains("unknown_task"), "{}", missing.err);
    let serving = place.serve();
    place.pay(&serving, &[]);
    let listed = place.json(&["tasks", "list", "--state", "pending"]);
    assert_eq!(listed["rows"][0]["order"], "1001");
    assert_eq!(place.run(&["tasks", "retry", "1001", "--reason", "customer asks"]).code, 0);
    assert_eq!(place.run(&["tasks", "list", "--state", "waiting"]).code, 2);
}
