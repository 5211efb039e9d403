//! The one connection that a broker's messages share: made when it is needed, by one caller while the others wait,
//! and not tried again at once when it could not be made. Nothing is sent behind anybody's back: a connection that is
//! lost stays lost, and the next message makes another.

use std::future::Future;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

/// How long nobody tries after the first failure; doubled at each further one.
const PAUSE_FIRST: Duration = Duration::from_millis(100);
/// No pause is longer.
const PAUSE_LONGEST: Duration = Duration::from_secs(5);

/// A connection, or none at present.
pub(super) struct Link<C> {
    state: Mutex<State<C>>,
}

struct State<C> {
    connection: Option<C>,
    failure: Option<Failure>,
}

struct Failure {
    why: String,
    pause: Duration,
    until: Instant,
}

impl<C> Default for Link<C> {
    fn default() -> Self {
        Self { state: Mutex::new(State { connection: None, failure: None }) }
    }
}

impl<C: Clone> Link<C> {
    /// The connection that there is, if it is `alive`, else what `connect` makes.
    ///
    /// # Errors
    /// Why there is none. Nothing has left then.
    pub(super) async fn get(
        &self,
        now: Instant,
        alive: impl Fn(&C) -> bool,
        connect: impl Future<Output = Result<C, String>>,
    ) -> Result<C, String> {
        let mut state = self.state.lock().await;
        if let Some(connection) = state.connection.as_ref().filter(|connection| alive(connection)) {
            return Ok(connection.clone());
        }
        state.connection = None;
        if let Some(failure) = state.failure.as_ref().filter(|failure| now < failure.until) {
            return Err(format!("{} (not tried again yet)", failure.why));
        }
        match connect.await {
            Ok(connection) => {
                state.failure = None;
                state.connection = Some(connection.clone());
                Ok(connection)
            }
            Err(why) => {
                let last = state.failure.take().map(|failure| failure.pause);
                let pause = last.map_or(PAUSE_FIRST, |last| (last * 2).min(PAUSE_LONGEST));
                state.failure = Some(Failure { why: why.clone(), pause, until: now + pause });
                Err(why)
            }
        }
    }

    /// Lets go of the connection: the next message makes another. (If somebody is at it, another is being made.)
    pub(super) fn forget(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.connection = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks at a moment; the broker answers with this.
    fn ask(link: &Link<u8>, at: Instant, alive: u8, broker: Result<u8, &str>) -> Result<u8, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let connect = async { broker.map_err(str::to_owned) };
        runtime.block_on(link.get(at, |connection| *connection == alive, connect))
    }

    #[test]
    fn a_connection_is_kept_while_it_lives_and_made_anew_when_it_does_not() {
        let (link, now) = (Link::default(), Instant::now());
        assert_eq!(ask(&link, now, 1, Ok(1)), Ok(1));
        assert_eq!(ask(&link, now, 1, Err("not asked")), Ok(1));
        assert_eq!(ask(&link, now, 2, Ok(2)), Ok(2), "the first one is dead");
        link.forget();
        assert_eq!(ask(&link, now, 2, Ok(3)), Ok(3));
    }

    #[test]
    fn a_broker_that_is_away_is_left_alone_for_longer_and_longer() {
        let (link, mut now) = (Link::default(), Instant::now());
        let mut pause = PAUSE_FIRST;
        for _ in 0..10 {
            assert_eq!(ask(&link, now, 1, Err("refused")).unwrap_err(), "refused");
            let early = now + pause - Duration::from_millis(1);
            assert!(ask(&link, early, 1, Ok(1)).unwrap_err().contains("not tried again yet"));
            now += pause;
            pause = (pause * 2).min(PAUSE_LONGEST);
        }
        assert_eq!(pause, PAUSE_LONGEST);
        assert_eq!(ask(&link, now, 1, Ok(1)), Ok(1));
        assert_eq!(
            ask(&link, now, 2, Err("refused")).unwrap_err(),
            "refused",
            "after a success it begins anew"
        );
        assert_eq!(ask(&link, now + PAUSE_FIRST, 2, Ok(2)), Ok(2));
    }
}
