//! A list with a limit: the oldest entries go, and how many went is known.

use serde::{Deserialize, Serialize};

/// Most sessions have a few hundred of anything; nothing grows without end.
const ITEMS_MAX: usize = 10_000;

/// Entries in the order in which they came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundedList<T> {
    /// The newest entries.
    pub items: Vec<T>,
    /// How many older ones there were.
    pub left_out: u64,
}

impl<T> Default for BoundedList<T> {
    fn default() -> Self {
        Self { items: Vec::new(), left_out: 0 }
    }
}

impl<T> BoundedList<T> {
    /// Adds an entry and gives back the number by which it is found again.
    pub(super) fn push(&mut self, item: T) -> u64 {
        self.push_evicting(item, |_| {})
    }

    /// The same; what has to go for it is shown first.
    pub(super) fn push_evicting(&mut self, item: T, goes: impl FnOnce(&[T])) -> u64 {
        if self.items.len() >= ITEMS_MAX {
            // A part at a time: moving everything for each entry would cost.
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

    /// How many there were in all.
    pub fn total(&self) -> u64 {
        self.left_out + u64::try_from(self.items.len()).unwrap_or_default()
    }

    /// Each entry that is left.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Whether there never was one.
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
    fn the_oldest_go_and_are_counted() {
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
