//! The texts on a page, for checking whether the page already contains an item.

use super::entry::PageEntry;
use super::page::PageLayout;
use crate::session::report::ELLIPSIS;

/// The texts on a page.
pub(super) struct PageTexts {
    /// Each text with the index of its entry.
    texts: Vec<(usize, String)>,
    /// The texts that are always shown, joined.
    leads: String,
    /// The remarks in the headings.
    remarks: Vec<String>,
    windows: WindowFilter,
}

impl PageTexts {
    pub(super) fn new(entries: &[PageEntry<'_>], layout: &PageLayout) -> Self {
        let on_page = layout.lengths.iter().enumerate().filter(|(_, length)| **length > 0);
        let text = |(index, length): (usize, &usize)| (index, entries[index].text(*length).text);
        let texts: Vec<(usize, String)> = on_page.map(text).collect();
        let windows = WindowFilter::from_texts(texts.iter().map(|(_, text)| text.as_str()));
        let leads = texts.iter().filter(|(index, _)| entries[*index].repeatable().is_none());
        let leads = leads.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
        let remark = |(index, _): &(usize, String)| entries[*index].item.remark.clone();
        let remarks = texts.iter().filter_map(remark).collect();
        Self { texts, leads, remarks, windows }
    }

    /// Whether the page contains all of an entry: in a longer text or an equal one before it, or
    /// line by line in the leading texts. For example, a report may end with the status and a
    /// question.
    pub(super) fn covers(&self, index: usize, entry: &PageEntry<'_>) -> bool {
        let is_named = |mention: &str| {
            self.remarks.iter().any(|remark| remark.contains(mention))
                || self.leads.lines().any(|line| line == mention)
        };
        if entry.item.mention.as_deref().is_some_and(is_named) {
            return true;
        }
        let first = |body: &&str| self.windows.may_contain(body.lines().next().unwrap_or_default());
        let Some(body) = entry.repeatable().filter(first) else { return false };
        let length = entry.item.text.trim().len();
        let is_led = || body.lines().all(|line| self.leads.contains(line));
        is_led()
            || self.texts.iter().any(|(other, text)| {
                let is_before = text.len() > length || *other < index;
                *other != index && is_before && contains_parts(text, body)
            })
    }
}

impl PageTexts {
    /// The first line that the page shows of a truncated entry, if the page above repeats
    /// everything it shows. Either other texts contain all of its parts, or an entry with the first
    /// line contains the whole entry.
    pub(super) fn repeated_beginning(
        &self,
        index: usize,
        entries: &[PageEntry<'_>],
    ) -> Option<&str> {
        let (_, text) = self.texts.iter().find(|(at, _)| *at == index)?;
        let body = entries[index].repeatable()?;
        let parts = text.split(ELLIPSIS).flat_map(str::lines).map(str::trim);
        let mut parts = parts.filter(|part| !part.is_empty());
        let first = parts.next().filter(|_| text.contains(ELLIPSIS))?;
        let above = || self.texts.iter().take_while(|(at, _)| *at < index);
        let is_above = |part: &str| above().any(|(_, text)| text.contains(part));
        let is_part = |(at, text): &(usize, String)| {
            text.contains(first) && entries[*at].full_text().contains(body)
        };
        (above().any(is_part) || is_above(first) && parts.all(is_above)).then_some(first)
    }

    /// Whether the page contains each of the texts.
    pub(super) fn contains_all<'t>(&self, mut texts: impl Iterator<Item = &'t &'t str>) -> bool {
        texts.all(|one| self.texts.iter().any(|(_, text)| text.contains(*one)))
    }
}

/// Whether a text contains a shortened one: all parts between its ellipses, in order.
fn contains_parts(text: &str, shortened: &str) -> bool {
    let mut rest = text;
    shortened.split(ELLIPSIS).map(str::trim).all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// A Bloom-style filter over four-byte windows of the page's texts. Hundreds of entries are
/// compared with the page while a client waits, and almost none of them are on it.
struct WindowFilter(Vec<u64>);

impl WindowFilter {
    const BITS: usize = 1 << 14;
    /// Maximum number of windows that a lookup checks.
    const LOOKED_UP_MAX: usize = 32;

    fn from_texts<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut bits = vec![0; Self::BITS / 64];
        for piece in texts.flat_map(|text| text.as_bytes().windows(4)) {
            let at = Self::bit_index(piece);
            bits[at / 64] |= 1 << (at % 64);
        }
        Self(bits)
    }

    /// Whether any of the texts may contain this one. `false` is always correct.
    fn may_contain(&self, text: &str) -> bool {
        let mut pieces = text.as_bytes().windows(4).take(Self::LOOKED_UP_MAX).map(Self::bit_index);
        pieces.all(|at| self.0[at / 64] >> (at % 64) & 1 == 1)
    }

    fn bit_index(piece: &[u8]) -> usize {
        let number = piece.iter().fold(0, |number: u32, byte| number << 8 | u32::from(*byte));
        usize::try_from(number.wrapping_mul(0x9E37_79B1) >> 18).unwrap_or_default() % Self::BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_has_no_false_negatives() {
        let text = "Die Warteschlange wächst, weil `drain()` nie läuft.";
        let windows = WindowFilter::from_texts([text].into_iter());
        for from in text.char_indices().map(|(at, _)| at) {
            assert!(windows.may_contain(&text[from..]), "{}", &text[from..]);
        }
        assert!(!windows.may_contain("The queue grows because nothing drains it."));
    }
}
