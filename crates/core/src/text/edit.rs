//! Changes to a document as data: an [`Edit`] names a header field, a [`Patch`] replaces bytes.

use crate::text::span::Span;
use crate::text::yaml::YamlData;
use std::fmt;

/// One change to a document, in terms of its header and body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Sets a header key, adding it if it is missing.
    Set(HeaderPath, YamlData),
    /// Appends an item to a header list, creating the list if it is missing.
    Append(HeaderPath, YamlData),
    /// Removes a key or an item from the header.
    Remove(HeaderPath),
    /// Replaces bytes of the body.
    Body(Span, String),
}

/// The path of a value in the header, starting at the outermost key.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct HeaderPath(pub Vec<HeaderPathStep>);

/// One step of a [`HeaderPath`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderPathStep {
    /// A key of a mapping.
    Key(String),
    /// An index into a list, from zero.
    Item(usize),
}

impl HeaderPath {
    /// The path of a field under `handoff:`.
    pub fn field(name: &str) -> Self {
        Self::default().key("handoff").key(name)
    }

    /// Extends the path by a mapping key.
    #[must_use]
    pub fn key(mut self, name: &str) -> Self {
        self.0.push(HeaderPathStep::Key(name.to_owned()));
        self
    }

    /// Extends the path by a list index.
    #[must_use]
    pub fn item(mut self, index: usize) -> Self {
        self.0.push(HeaderPathStep::Item(index));
        self
    }
}

/// Formats the path as `decisions_made[2].rationale`.
impl fmt::Display for HeaderPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                HeaderPathStep::Key(key) if position == 0 => f.write_str(key)?,
                HeaderPathStep::Key(key) => write!(f, ".{key}")?,
                HeaderPathStep::Item(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A reversible change of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The replacements, in text order and without overlaps.
    pub replacements: Vec<Replacement>,
}

/// One replaced range of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The byte offset in the text before the patch.
    pub at: usize,
    /// The text that is replaced.
    pub old: String,
    /// The text that replaces it.
    pub new: String,
}

/// The error for a patch that was made for a different text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text at byte {at} does not match the text this patch was made for")]
pub struct PatchMismatch {
    /// The offset of the first replacement that does not match.
    pub at: usize,
}

impl Patch {
    /// Returns the patch that turns `old` into `new`: one replacement that covers every difference.
    pub fn between(old: &str, new: &str) -> Self {
        let same = |(a, b): &(char, char)| a == b;
        let prefix: usize =
            old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
        let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
        let suffix: usize = old_rest
            .chars()
            .rev()
            .zip(new_rest.chars().rev())
            .take_while(same)
            .map(|(c, _)| c.len_utf8())
            .sum();
        if old_rest.is_empty() && new_rest.is_empty() {
            return Self::default();
        }
        let old = old_rest[..old_rest.len() - suffix].to_owned();
        let new = new_rest[..new_rest.len() - suffix].to_owned();
        Self { replacements: vec![Replacement { at: prefix, old, new }] }
    }

    /// Applies the patch to `text`.
    pub fn apply(&self, text: &str) -> Result<String, PatchMismatch> {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for Replacement { at, old, new } in &self.replacements {
            let fits = *at >= from && text.get(*at..at + old.len()) == Some(old);
            let before = text.get(from..*at).filter(|_| fits).ok_or(PatchMismatch { at: *at })?;
            out.push_str(before);
            out.push_str(new);
            from = at + old.len();
        }
        out.push_str(&text[from..]);
        Ok(out)
    }

    /// Returns the patch that undoes this one.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let mut growth = 0_isize;
        let replacements = self
            .replacements
            .iter()
            .map(|Replacement { at, old, new }| {
                let moved = at.checked_add_signed(growth).expect("a patch starts inside its text");
                growth += new.len().cast_signed() - old.len().cast_signed();
                Replacement { at: moved, old: new.clone(), new: old.clone() }
            })
            .collect();
        Self { replacements }
    }

    /// Whether the patch changes nothing.
    pub fn is_empty(&self) -> bool {
        self.replacements.iter().all(|replacement| replacement.old == replacement.new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_and_its_reverse_restore_the_text() {
        let patch = Patch {
            replacements: vec![
                Replacement { at: 0, old: "ab".into(), new: "x".into() },
                Replacement { at: 3, old: String::new(), new: "long".into() },
            ],
        };
        let after = patch.apply("abcd").unwrap();
        assert_eq!(after, "xclongd");
        assert_eq!(patch.reversed().apply(&after).unwrap(), "abcd");
        assert_eq!(patch.apply("zbcd"), Err(PatchMismatch { at: 0 }));
    }

    #[test]
    fn the_patch_between_two_texts_replaces_only_what_differs() {
        let patch = Patch::between("one two three", "one zwei three");
        assert_eq!(patch.replacements.len(), 1);
        assert_eq!(patch.apply("one two three").unwrap(), "one zwei three");
        assert!(Patch::between("same", "same").is_empty());
        assert_eq!(Patch::between("aa", "aaa").apply("aa").unwrap(), "aaa");
    }
}
