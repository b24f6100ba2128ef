//! What may be changed in a document, as data: edits by meaning, patches by bytes.

use crate::text::span::Span;
use crate::text::yaml::YamlData;
use std::fmt;

/// One change that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Gives a key of the header a value, adding the key where it is absent.
    Set(HeaderPath, YamlData),
    /// Adds an item at the end of a list of the header, making the list where there is none.
    Append(HeaderPath, YamlData),
    /// Takes a key or an item out of the header.
    Remove(HeaderPath),
    /// Replaces bytes of the body.
    Body(Span, String),
}

/// A place in the header, from its outermost key.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct HeaderPath(pub Vec<HeaderPathStep>);

/// One step into the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderPathStep {
    /// Into a mapping.
    Key(String),
    /// Into a list, from zero.
    Item(usize),
}

impl HeaderPath {
    /// A field of the handoff.
    pub fn field(name: &str) -> Self {
        Self::default().key("handoff").key(name)
    }

    /// One step further, into a mapping.
    #[must_use]
    pub fn key(mut self, name: &str) -> Self {
        self.0.push(HeaderPathStep::Key(name.to_owned()));
        self
    }

    /// One step further, into a list.
    #[must_use]
    pub fn item(mut self, index: usize) -> Self {
        self.0.push(HeaderPathStep::Item(index));
        self
    }
}

/// `decisions_made[2].rationale`
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

/// A change of bytes that can be taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// In the order of the text; none overlaps another.
    pub replacements: Vec<Replacement>,
}

/// Bytes that give way to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Where, in the text before the patch.
    pub at: usize,
    /// What stood there.
    pub old: String,
    /// What stands there afterwards.
    pub new: String,
}

/// A patch does not belong to this text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text at byte {at} is not the one this patch was made for")]
pub struct PatchMismatch {
    /// The first byte that differs.
    pub at: usize,
}

impl Patch {
    /// The patch that makes `new` of `old`, as one replacement of what differs.
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

    /// The text after the patch.
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

    /// The patch that takes this one back.
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

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.replacements.iter().all(|replacement| replacement.old == replacement.new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_and_its_reverse_give_the_text_back() {
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
    fn the_patch_between_two_texts_is_what_differs() {
        let patch = Patch::between("one two three", "one zwei three");
        assert_eq!(patch.replacements.len(), 1);
        assert_eq!(patch.apply("one two three").unwrap(), "one zwei three");
        assert!(Patch::between("same", "same").is_empty());
        assert_eq!(Patch::between("aa", "aaa").apply("aa").unwrap(), "aaa");
    }
}
