//! Which committer takes a command: those about one order meet in one lane, where they go into one commit and do not
//! wait for each other's locks. No promise depends on it: two lanes are to a store what two processes are.

use std::hash::{DefaultHasher, Hash, Hasher};

use paidonce_ledger::{Command, Key, Keys, ReferenceKey};

/// The lane of a command, of `lanes`.
pub(crate) fn lane_of(command: &Command, lanes: usize) -> usize {
    if lanes <= 1 {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    about(&command.keys(), &mut hasher);
    let lanes = u64::try_from(lanes).unwrap_or(u64::MAX);
    usize::try_from(hasher.finish() % lanes).unwrap_or_default()
}

/// What a command is about, as well as its keys tell before anything is loaded: its order, or what hints at one, so
/// that an order and its payments meet; else its payment; else whatever it names first.
fn about(keys: &Keys, hasher: &mut DefaultHasher) {
    let order = keys.iter().find_map(|key| match key {
        Key::Order(id) => Some(id.as_str()),
        _ => None,
    });
    let hint = || {
        keys.iter().find_map(|key| match key {
            Key::Reference(ReferenceKey::Issued(hint) | ReferenceKey::Own(hint)) => Some(hint.as_str()),
            _ => None,
        })
    };
    if let Some(text) = order.or_else(hint) {
        return text.hash(hasher);
    }
    let payment = keys.iter().find(|key| matches!(key, Key::Payment(_)));
    payment.or_else(|| keys.first()).hash(hasher);
}

#[cfg(test)]
mod tests {
    use super::*;
    use paidonce_ledger::testing::{about as notice_about, cancel, eur, id, place, receive};
    use paidonce_ledger::{CaptureState, Claims, Fact, Reading};

    fn paid(event: &str, payment: &str, hint: Option<&str>) -> Command {
        let capture = Fact::captured(id(payment), CaptureState::Settled, Some(eur("1")));
        let mut notice = notice_about(event, payment, vec![capture]);
        if let (Reading::Facts(Claims { hints, .. }), Some(hint)) = (&mut notice.reading, hint) {
            hints.push(id(hint));
        }
        receive(vec![notice])
    }

    #[test]
    fn what_concerns_one_order_or_one_payment_meets_in_one_lane() {
        for n in 0..50 {
            let order = format!("o_{n}");
            let lanes = [
                lane_of(&Command::PlaceOrder(place(&order, &eur("1"), &["pi_1"])), 4),
                lane_of(&cancel(&order), 4),
                lane_of(&paid(&format!("evt_{n}"), "pi_7", Some(&order)), 4),
            ];
            assert!(lanes.iter().all(|lane| *lane == lanes[0]), "{order}: {lanes:?}");
            let payment = format!("pi_{n}");
            assert_eq!(
                lane_of(&paid("evt_1", &payment, None), 4),
                lane_of(&paid("evt_2", &payment, None), 4)
            );
        }
    }

    #[test]
    fn every_lane_gets_its_share() {
        let mut shares = [0; 4];
        for n in 0..400 {
            shares[lane_of(&paid("evt", &format!("pi_{n}"), None), 4)] += 1;
        }
        assert!(shares.iter().all(|share| *share > 50), "{shares:?}");
        assert_eq!(lane_of(&paid("evt", "pi", None), 1), 0);
    }
}
