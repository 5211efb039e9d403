//! Waiting until the machine is quiet. A neighbour that compiles turns an fsync of 0.13 ms into one of 4 ms, which
//! slows single commits twentyfold and large batches hardly at all: ratios of busy moments flatter the batches.

use std::time::{Duration, Instant};

/// How long the CPUs are watched at a time.
const WATCH: Duration = Duration::from_millis(250);

/// Waits until at most a tenth of the CPUs' time is used, or until `patience` is at its end. Answers whether it is
/// quiet now; where `/proc` does not say, it is.
#[must_use]
pub fn wait(patience: Duration) -> bool {
    let began = Instant::now();
    loop {
        let before = ticks();
        std::thread::sleep(WATCH);
        let quiet = before.zip(ticks()).is_none_or(|(before, after)| {
            let (busy, all) = (after.busy.saturating_sub(before.busy), after.all.saturating_sub(before.all));
            busy * 10 <= all
        });
        if quiet || began.elapsed() >= patience {
            return quiet;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    all: u64,
}

fn ticks() -> Option<Ticks> {
    parse(&std::fs::read_to_string("/proc/stat").ok()?)
}

/// The first line: user, nice, system, idle, waiting for disks, and more that is busy.
fn parse(stat: &str) -> Option<Ticks> {
    let numbers = stat.lines().next()?.strip_prefix("cpu ")?;
    let numbers: Vec<u64> = numbers.split_whitespace().map_while(|number| number.parse().ok()).collect();
    let idle: u64 = numbers.get(3..5)?.iter().sum();
    let all = numbers.iter().sum();
    Some(Ticks { busy: all - idle, all })
}

#[test]
fn waiting_for_disks_is_not_busy() {
    assert_eq!(parse("cpu  10 0 5 80 5 0 0\ncpu0 1 2 3"), Some(Ticks { busy: 15, all: 100 }));
    assert_eq!(parse("nothing"), None);
}
