//! `tasks`: what is due, and what can be retried.

use super::Place;

#[test]
fn a_due_task_is_listed_and_retried_and_a_missing_one_refused() {
    let place = Place::new("off");
    place.place_order();
    let missing = place.run(&["tasks", "retry", "000000000000", "--reason", "customer asks"]);
    assert_eq!(missing.code, 1);
    assert!(missing.err.contains("there is no task 000000000000"), "{}", missing.err);
    let serving = place.serve();
    place.pay(&serving, &[]);
    let listed = place.json(&["tasks", "list", "--state", "pending"]);
    assert_eq!(listed["rows"][0]["order"], "1001");
    let task = listed["rows"][0]["handle"].as_str().unwrap();
    assert_eq!(place.run(&["tasks", "retry", task, "--reason", "customer asks"]).code, 0);
    let shown = place.run(&["tasks", "show", task]).out;
    assert!(shown.contains("work     grant order") && shown.contains("It was not tried yet."), "{shown}");
    assert_eq!(place.run(&["tasks", "list", "--state", "waiting"]).code, 2);
}
