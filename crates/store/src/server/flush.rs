//! Writing the net changes of a batch, table by table in one fixed order, each by key: inserts wait for one another
//! in that order only, so they never wait in a circle. Nothing is decided here.

use paidonce_ledger::{
    ApiKey, Attempt, Audit, Case, Changes, CommandRecord, Entitlement, Event, FactValue, Order, Payment,
    Product, Reference, Task,
};

use super::Tables;
use crate::row::{Stored, dropped};
use crate::{Result, StoreError, StoreErrorKind};

pub(crate) async fn flush(to: &mut impl Tables, changes: &Changes) -> Result<()> {
    table::<Reference>(to, changes).await?;
    table::<Order>(to, changes).await?;
    table::<Product>(to, changes).await?;
    table::<Payment>(to, changes).await?;
    table::<FactValue>(to, changes).await?;
    table::<Event>(to, changes).await?;
    let dropped = dropped(changes);
    if !dropped.is_empty() {
        to.drop_bodies(&dropped).await?;
    }
    table::<Task>(to, changes).await?;
    table::<Attempt>(to, changes).await?;
    table::<Entitlement>(to, changes).await?;
    table::<Case>(to, changes).await?;
    table::<CommandRecord>(to, changes).await?;
    table::<Audit>(to, changes).await?;
    table::<ApiKey>(to, changes).await
}

async fn table<T: Stored>(to: &mut impl Tables, changes: &Changes) -> Result<()> {
    let (mut inserts, mut updates) = (Vec::new(), Vec::new());
    for change in T::changes(changes) {
        match (&change.before, &change.after) {
            (None, Some(row)) => inserts.push(T::write(&change.key, row)?),
            (Some(_), Some(row)) => updates.push(T::write(&change.key, row)?),
            (_, None) => {
                return Err(StoreError::new(
                    StoreErrorKind::Internal,
                    "a row was to be deleted: no command does that",
                ));
            }
        }
    }
    if !inserts.is_empty() {
        to.insert::<T>(&inserts).await?;
    }
    if !updates.is_empty() {
        to.update::<T>(&updates).await?;
    }
    Ok(())
}
