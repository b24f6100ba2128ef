//! Finds all prefixes that may start a secret in one pass.
//!
//! An automaton would also look at each byte only once, but building one costs more than scanning
//! a typical document.

/// The prefixes, indexed by their first two bytes, and for each byte the groups of prefixes that
/// have it as their first, second or third byte.
#[derive(Debug)]
pub(super) struct PrefixMatcher {
    /// A bit set of groups for each of the first three positions. The unused fourth number makes
    /// indexing a shift.
    groups: Box<[[u64; 4]; 256]>,
    /// The start and end of each slot in `words`.
    slots: Box<[(u16, u16); SLOTS]>,
    /// The prefixes sorted by slot, each with its position in the input.
    words: Vec<(Box<[u8]>, usize)>,
    /// The prefixes of one byte. Only token characters may follow them.
    letters: Vec<(u8, usize)>,
}

const SLOTS: usize = 1024;
/// The number of bytes scanned at once.
const BLOCK: usize = 256;
/// One group for each bit of a `u64`.
const GROUPS: usize = 64;
const TOKEN: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

fn pair_code(bytes: [u8; 2]) -> usize {
    usize::from(u16::from_le_bytes(bytes))
}

fn slot_for_pair(pair: usize) -> usize {
    (pair.wrapping_mul(0x9e37) >> 6) & (SLOTS - 1)
}

impl PrefixMatcher {
    /// Creates a matcher. Matches report the position of a prefix in `words`.
    pub(super) fn new<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut made = Self {
            groups: Box::new([[0; 4]; 256]),
            slots: Box::new([(0, 0); SLOTS]),
            words: Vec::new(),
            letters: Vec::new(),
        };
        for (place, word) in words.enumerate() {
            match word.as_bytes() {
                [] => {}
                [letter] => made.letters.push((*letter, place)),
                word => made.words.push((word.into(), place)),
            }
        }
        made.words.sort_by_cached_key(|(word, place)| {
            (slot_for_pair(pair_code([word[0], word[1]])), *place)
        });
        for (index, (word, _)) in made.words.iter().enumerate() {
            let index = u16::try_from(index).unwrap_or(u16::MAX);
            let slot = &mut made.slots[slot_for_pair(pair_code([word[0], word[1]]))];
            *slot = (if slot.1 == 0 { index } else { slot.0 }, index + 1);
        }
        made.form_groups();
        made
    }

    /// Puts prefixes with the same start into one group, which reduces false candidates.
    fn form_groups(&mut self) {
        let beginning = |word: &[u8]| [word[0], word[1], u8::from(word.len() > 2)];
        let mut beginnings: Vec<[u8; 3]> =
            self.words.iter().map(|(word, _)| beginning(word)).collect();
        beginnings.sort_unstable();
        beginnings.dedup();
        let share = beginnings.len().div_ceil(GROUPS - 1).max(1);
        for (word, _) in &self.words {
            let at = beginnings.binary_search(&beginning(word)).unwrap_or_default();
            let group = 1 << (at / share);
            self.groups[usize::from(word[0])][0] |= group;
            self.groups[usize::from(word[1])][1] |= group;
            // Any byte may follow a prefix of two bytes.
            let thirds = word.get(2).map_or(0..=u8::MAX, |third| *third..=*third);
            thirds.for_each(|third| self.groups[usize::from(third)][2] |= group);
        }
        let group = 1 << (GROUPS - 1);
        for (letter, _) in &self.letters {
            self.groups[usize::from(*letter)][0] |= group;
            for behind in TOKEN {
                self.groups[usize::from(*behind)][1] |= group;
                self.groups[usize::from(*behind)][2] |= group;
            }
        }
    }

    /// The length of the longest prefix.
    pub(super) fn longest_prefix(&self) -> usize {
        self.words.iter().map(|(word, _)| word.len()).max().unwrap_or_default()
    }

    /// Calls `met` with the offset of every match and the position of its prefix. Prefixes shorter
    /// than three bytes match only if at least three bytes remain.
    pub(super) fn for_each_match(&self, text: &[u8], mut met: impl FnMut(usize, usize)) {
        // The groups that match the last byte, and the last two bytes.
        let (mut one, mut two) = (0, 0);
        let mut ends = [0; BLOCK];
        for from in (0..text.len()).step_by(BLOCK) {
            // Collect the candidates first, without a branch that the CPU cannot predict.
            let mut count = 0;
            for (end, byte) in (from..).zip(&text[from..text.len().min(from + BLOCK)]) {
                let [first, second, third, _] = self.groups[usize::from(*byte)];
                ends[count % BLOCK] = end;
                count += usize::from(two & third != 0);
                two = one & second;
                one = first;
            }
            for end in &ends[..count] {
                self.for_each_match_at(&text[end - 2..], |place| met(end - 2, place));
            }
        }
    }

    fn for_each_match_at(&self, rest: &[u8], mut met: impl FnMut(usize)) {
        let (from, to) = self.slots[slot_for_pair(pair_code([rest[0], rest[1]]))];
        for (word, place) in &self.words[usize::from(from)..usize::from(to)] {
            // Comparing the third byte first avoids most calls of `starts_with`.
            if word.get(2).is_none_or(|third| rest[2] == *third) && rest.starts_with(word) {
                met(*place);
            }
        }
        let letters = self.letters.iter().filter(|(letter, _)| *letter == rest[0]);
        letters.for_each(|(_, place)| met(*place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_is_found_at_every_offset() {
        let words = ["ab", "abc", "abcd", "bc", "xyz", "ba"];
        let beginnings = PrefixMatcher::new(words.iter().copied());
        let text = "abcd abxyzbab.";
        let mut met = Vec::new();
        beginnings.for_each_match(text.as_bytes(), |at, place| met.push((at, words[place])));
        let mut expected = Vec::new();
        for at in 0..text.len() {
            let here = words.iter().filter(|word| text[at..].starts_with(**word));
            expected.extend(here.map(|word| (at, *word)));
        }
        assert_eq!(met, expected);
        assert_eq!(beginnings.longest_prefix(), 4);
    }
}
