//! A list with a maximum length that drops the oldest entries and counts them.

use serde::{Deserialize, Serialize};

/// Most sessions have a few hundred of anything. The limit keeps memory bounded.
const ITEMS_MAX: usize = 10_000;

/// Entries in insertion order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundedList<T> {
    /// The newest entries.
    pub items: Vec<T>,
    /// How many older entries were dropped.
    pub left_out: u64,
}

impl<T> Default for BoundedList<T> {
    fn default() -> Self {
        Self { items: Vec::new(), left_out: 0 }
    }
}

impl<T> BoundedList<T> {
    /// Adds an entry and returns its number for `get_mut`.
    pub(super) fn push(&mut self, item: T) -> u64 {
        self.push_evicting(item, |_| {})
    }

    /// Like `push`, and passes the entries that are about to be dropped to `goes`.
    pub(super) fn push_evicting(&mut self, item: T, goes: impl FnOnce(&[T])) -> u64 {
        if self.items.len() >= ITEMS_MAX {
            // Drop a tenth at once: shifting the whole list for each new entry would be slow.
            let going = ITEMS_MAX / 10;
            goes(&self.items[..going]);
            self.items.drain(..going);
            self.left_out += u64::try_from(going).unwrap_or_default();
        }
        self.items.push(item);
        self.total() - 1
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let at = usize::try_from(number.checked_sub(self.left_out)?).ok()?;
        self.items.get_mut(at)
    }

    /// The total number of entries, dropped ones included.
    pub fn total(&self) -> u64 {
        self.left_out + u64::try_from(self.items.len()).unwrap_or_default()
    }

    /// Iterates over the entries that are left.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Whether no entry was ever added.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }
}

impl<'l, T> IntoIterator for &'l BoundedList<T> {
    type Item = &'l T;
    type IntoIter = std::slice::Iter<'l, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entries_are_dropped_and_counted() {
        let mut list = BoundedList::default();
        let numbers: Vec<u64> = (0..25_000).map(|item| list.push(item)).collect();
        assert_eq!(numbers, (0..25_000).collect::<Vec<u64>>());
        assert_eq!(list.total(), 25_000);
        assert!(list.items.len() <= ITEMS_MAX);
        assert_eq!(list.get_mut(24_999).copied(), Some(24_999));
        assert_eq!(list.get_mut(0), None);
        assert_eq!(list.items.first().copied(), Some(list.left_out));
    }
}
