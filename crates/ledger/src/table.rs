//! One ordered map with a journal of its changes, so that a command can be undone and a batch can be flushed.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// Rows by key. Equality and hash are the rows' alone: the journal says how they came about, not what is true.
#[derive(Debug, Clone)]
pub struct Table<K, V> {
    rows: BTreeMap<K, V>,
    /// Each change as (key, what stood there before), oldest first.
    journal: Vec<(K, Option<V>)>,
}

/// The net change of one row since the journal was last taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<K, V> {
    /// Which row.
    pub key: K,
    /// What the store holds; `None` to insert.
    pub before: Option<V>,
    /// What it must hold; `None` to delete.
    pub after: Option<V>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), journal: Vec::new() }
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Table<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}
impl<K: Eq, V: Eq> Eq for Table<K, V> {}
impl<K: Hash, V: Hash> Hash for Table<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rows.hash(state);
    }
}

impl<K: Ord + Clone, V: Clone + PartialEq> Table<K, V> {
    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &BTreeMap<K, V> {
        &self.rows
    }

    /// The row under `key`.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.rows.get(key)
    }

    /// Puts a row that a store has fetched. Not a change.
    pub fn load(&mut self, key: K, row: V) {
        self.rows.insert(key, row);
    }

    pub(crate) fn put(&mut self, key: K, row: V) {
        let before = self.rows.insert(key.clone(), row);
        self.journal.push((key, before));
    }

    /// How many changes were made so far; for [`Table::undo_to`].
    pub(crate) fn mark(&self) -> usize {
        self.journal.len()
    }

    /// What stood, after `mark` was taken, under each key that was changed since: once for each change, oldest first.
    pub(crate) fn changed_since(&self, mark: usize) -> impl Iterator<Item = (&K, Option<&V>)> {
        self.journal[mark.min(self.journal.len())..].iter().map(|(key, before)| (key, before.as_ref()))
    }

    /// Takes back every change after `mark`.
    pub(crate) fn undo_to(&mut self, mark: usize) {
        while self.journal.len() > mark {
            let Some((key, before)) = self.journal.pop() else { break };
            match before {
                Some(row) => self.rows.insert(key, row),
                None => self.rows.remove(&key),
            };
        }
    }

    /// As [`Table::take_changes`], for the last time: the rows move out, which spares a copy of each.
    #[must_use]
    pub fn into_changes(mut self) -> Vec<Change<K, V>> {
        let journal = self.first_changes();
        journal
            .into_iter()
            .map(|(key, before)| Change { after: self.rows.remove(&key), key, before })
            .filter(|change| change.before != change.after)
            .collect()
    }

    /// What stood under each key that was changed, by key, and an empty journal.
    fn first_changes(&mut self) -> Vec<(K, Option<V>)> {
        let mut journal = std::mem::take(&mut self.journal);
        // Stable: of several changes of one row, the first stays, which knows what stood there before.
        journal.sort_by(|(one, _), (two, _)| one.cmp(two));
        journal.dedup_by(|(later, _), (first, _)| later == first);
        journal
    }

    /// The net change of each row, by key, and an empty journal. A row that ended as it began is no change.
    pub fn take_changes(&mut self) -> Vec<Change<K, V>> {
        self.first_changes()
            .into_iter()
            .map(|(key, before)| Change { after: self.rows.get(&key).cloned(), key, before })
            .filter(|change| change.before != change.after)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_net_and_undo_takes_back_the_rest() {
        let mut table = Table::default();
        table.load("a", 1);
        table.put("a", 2);
        table.put("b", 5);
        let mark = table.mark();
        table.put("a", 3);
        table.put("c", 9);
        table.undo_to(mark);
        assert_eq!(table.rows(), &BTreeMap::from([("a", 2), ("b", 5)]));
        table.put("a", 1);
        assert_eq!(table.take_changes(), [Change { key: "b", before: None, after: Some(5) }]);
        assert!(table.take_changes().is_empty());
    }

    #[test]
    fn equality_is_the_rows_alone() {
        let (mut one, mut two) = (Table::default(), Table::default());
        one.put("a", 1);
        two.load("a", 1);
        assert_eq!(one, two);
    }
}
