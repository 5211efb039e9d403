//! What workers and the sweeper ask, alike on every database server.

use paidonce_ledger::{Attempt, Key, Keys, Order, Payment, Task, TaskKey, Timestamp};

use super::Tables;
use crate::Result;
use crate::list::{Bodies, Due, OldBodies, Stale};
use crate::listing::{self, Rest};
use crate::row::{Reader, Stored, key_columns, text};

/// One connection that lists rows by a condition.
pub(crate) trait Lists: Tables {
    /// The rows of `T`'s table that `rest` says, which stands after the table's name.
    fn listed<T: Stored>(&mut self, rest: Rest<'_>) -> impl Future<Output = Result<Vec<(T::Key, T)>>>;

    /// Each row of a whole statement, read by `read`.
    fn selected<R>(
        &mut self,
        statement: Rest<'_>,
        read: impl Fn(&mut Reader<'_>) -> Result<R>,
    ) -> impl Future<Output = Result<Vec<R>>>;

    /// The tables of events, named `e` and read by time, and of cases.
    fn tables(&self) -> (String, String);
}

pub(crate) async fn due(
    rows: &mut impl Lists,
    what: &Due,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<TaskKey>> {
    let tasks = rows.listed::<Task>(listing::due(what, now, limit)).await?;
    Ok(tasks.into_iter().map(|(key, _)| key).collect())
}

pub(crate) async fn stale(rows: &mut impl Lists, stale: &Stale) -> Result<Keys> {
    let orders = rows.listed::<Order>(listing::expiring(stale.expired_by, stale.limit)).await?;
    let mut keys: Keys = orders.into_iter().map(|(id, _)| Key::Order(id)).collect();
    if let Some(between) = stale.unbound {
        let payments = rows.listed::<Payment>(listing::unbound(between, stale.limit)).await?;
        keys.extend(payments.into_iter().map(|(key, _)| Key::Payment(key)));
    }
    for effect in &stale.configured {
        let tasks = rows.listed::<Task>(listing::parked(effect, stale.limit)).await?;
        keys.extend(tasks.into_iter().map(|(key, _)| key.key()));
    }
    Ok(keys)
}

pub(crate) async fn old_bodies(rows: &mut impl Lists, wanted: &Bodies) -> Result<OldBodies> {
    let (events, cases) = rows.tables();
    let edge = rows.selected(listing::bodies_edge(&events, wanted), |row| row.time()).await?;
    let edge = edge.first().copied().unwrap_or(wanted.by);
    let found = rows.selected(listing::bodies((&events, &cases), wanted, edge), listing::event_key).await?;
    Ok(wanted.found(found, edge))
}

pub(crate) async fn attempts(rows: &mut impl Lists, task: &TaskKey) -> Result<Vec<(u64, Attempt)>> {
    let mut attempts = rows.under::<Attempt>(Some(vec![key_columns(task)])).await?;
    attempts.sort_by(|(one, _), (two, _)| two.cmp(one));
    Ok(attempts.into_iter().map(|(key, row)| (key.version, row)).collect())
}

pub(crate) async fn task(rows: &mut impl Lists, handle: &str) -> Result<Option<(TaskKey, Task)>> {
    let rest = ("WHERE handle = ?".to_owned(), vec![text(handle)]);
    Ok(rows.listed::<Task>(rest).await?.pop())
}
