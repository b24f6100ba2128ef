//! The cost of a text in tokens and UTF-16 units.
//! Costs of parts can be added up because no word, number or run of spaces crosses the boundary
//! between two parts.

use crate::text::tokens;
use std::ops::{Add, AddAssign};

/// The cost of a text in both units that a budget limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    thousandths: u64,
    utf16_units: u64,
}

impl Cost {
    pub(super) fn for_text(text: &str) -> Self {
        let utf16_units = u64::try_from(text.encode_utf16().count()).unwrap_or(u64::MAX);
        Self { thousandths: tokens::thousandths(text), utf16_units }
    }

    /// The cost of a number of tokens.
    pub(super) fn from_tokens(tokens: u64) -> Self {
        Self { thousandths: tokens * 1_000, utf16_units: 0 }
    }

    /// The cost without that of a part.
    pub(super) fn minus(self, part: Self) -> Self {
        Self {
            thousandths: self.thousandths.saturating_sub(part.thousandths),
            utf16_units: self.utf16_units.saturating_sub(part.utf16_units),
        }
    }

    /// Whether the cost is within a budget.
    pub(super) fn fits(self, budget: super::Budget) -> bool {
        tokens::round_up(self.thousandths) <= budget.tokens
            && budget.utf16_units.is_none_or(|most| self.utf16_units <= most)
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            thousandths: self.thousandths + other.thousandths,
            utf16_units: self.utf16_units + other.utf16_units,
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
