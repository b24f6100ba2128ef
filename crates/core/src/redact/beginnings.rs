//! Letters that may begin a secret, found in one pass. An automaton would look at each byte once
//! too, but building one costs more than reading any document.

/// A bit for what the first three bytes of a word are mixed to, and the words by their first two.
#[derive(Debug)]
pub(super) struct Beginnings {
    trios: Vec<u64>,
    /// Where the words of a slot begin in the list.
    slots: Vec<u16>,
    /// The words, ordered by slot, with the place that they were given in.
    words: Vec<(Box<[u8]>, usize)>,
    /// Words of one letter; what follows them are letters of a token.
    letters: Vec<(u8, usize)>,
}

const SLOTS: usize = 1024;
const TOKEN: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

fn pair_of(bytes: [u8; 2]) -> usize {
    usize::from(u16::from_le_bytes(bytes))
}

/// Sixteen bits of three bytes.
fn trio_of(bytes: [u8; 3]) -> usize {
    let [first, second, third] = bytes.map(u32::from);
    let mixed = (first | second << 8 | third << 16).wrapping_mul(0x9e37_79b1);
    usize::from(u16::try_from(mixed >> 16).unwrap_or_default())
}

fn slot_of(pair: usize) -> usize {
    (pair.wrapping_mul(0x9e37) >> 6) & (SLOTS - 1)
}

impl Beginnings {
    /// Words in an order that is kept.
    pub(super) fn new<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut made = Self {
            trios: vec![0; (1 << 16) / 64],
            slots: vec![u16::MAX; SLOTS],
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
        made.words
            .sort_by_cached_key(|(word, place)| (slot_of(pair_of([word[0], word[1]])), *place));
        for index in (0..made.words.len()).rev() {
            let word = &made.words[index].0;
            let (first, second, third) = (word[0], word[1], word.get(2).copied());
            made.slots[slot_of(pair_of([first, second]))] =
                u16::try_from(index).unwrap_or(u16::MAX);
            // Anything may follow a word of two letters.
            for third in third.map_or(0..=u8::MAX, |third| third..=third) {
                made.expect([first, second, third]);
            }
        }
        for (letter, _) in made.letters.clone() {
            for (second, third) in
                TOKEN.iter().flat_map(|one| TOKEN.iter().map(move |two| (one, two)))
            {
                made.expect([letter, *second, *third]);
            }
        }
        made
    }

    fn expect(&mut self, bytes: [u8; 3]) {
        let trio = trio_of(bytes);
        self.trios[trio / 64] |= 1 << (trio % 64);
    }

    /// How long the longest word is.
    pub(super) fn bytes_max(&self) -> usize {
        self.words.iter().map(|(word, _)| word.len()).max().unwrap_or_default()
    }

    /// Calls for every word of three letters and more at every place where it stands, and for every
    /// shorter one behind which something follows.
    pub(super) fn each(&self, text: &[u8], mut met: impl FnMut(usize, usize)) {
        for (at, bytes) in text.windows(3).enumerate() {
            let trio = trio_of([bytes[0], bytes[1], bytes[2]]);
            if self.trios[trio / 64] >> (trio % 64) & 1 == 1 {
                let slot = slot_of(pair_of([bytes[0], bytes[1]]));
                self.each_at(&text[at..], slot, |place| met(at, place));
                let letters = self.letters.iter().filter(|(letter, _)| *letter == bytes[0]);
                letters.for_each(|(_, place)| met(at, *place));
            }
        }
    }

    fn each_at(&self, rest: &[u8], slot: usize, mut met: impl FnMut(usize)) {
        let from = usize::from(self.slots[slot]);
        for (word, place) in self.words.get(from..).unwrap_or_default() {
            if slot_of(pair_of([word[0], word[1]])) != slot {
                break;
            }
            // Most words are told apart by their third letter, at less than the price of a call.
            if word.get(2).is_none_or(|third| rest.get(2) == Some(third)) && rest.starts_with(word)
            {
                met(*place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_met_wherever_it_stands() {
        let words = ["ab", "abc", "abcd", "bc", "xyz", "ba"];
        let beginnings = Beginnings::new(words.iter().copied());
        let text = "abcd abxyzbab.";
        let mut met = Vec::new();
        beginnings.each(text.as_bytes(), |at, place| met.push((at, words[place])));
        let mut expected = Vec::new();
        for at in 0..text.len() {
            let here = words.iter().filter(|word| text[at..].starts_with(**word));
            expected.extend(here.map(|word| (at, *word)));
        }
        assert_eq!(met, expected);
        assert_eq!(beginnings.bytes_max(), 4);
    }
}
