//! Redacts the secrets of a document, and verifies that nothing else changed.

use super::DocumentEditError;
use crate::format::document::Document;
use crate::text::redact::{CleanText, Redaction, RedactionRules, has_redaction_mark};
use crate::text::span::Span;
use crate::text::yaml::YamlData;

/// A document without secrets.
#[derive(Clone, Debug)]
pub struct RedactedDocument {
    /// The text to write.
    pub text: CleanText,
    /// The document with this text.
    pub document: Document,
    /// The secrets that were redacted, with their spans in the original.
    pub redacted: Vec<Redaction>,
}

impl Document {
    /// Redacts secrets. Refuses if a redaction would change anything but values and words: a rule
    /// may match the end of the header or the syntax between two values.
    ///
    /// ```
    /// use midstride_core::format::document::Document;
    /// use midstride_core::text::redact::RedactionRules;
    ///
    /// let text = "---\nhandoff:\n  id: login\n---\nLog in with password=Tr0ub4dor-and-3 on staging\n";
    /// let clean = Document::parse(text.as_bytes()).redact(RedactionRules::shipped())?;
    /// assert!(clean.document.text().ends_with("password=REDACTED-password on staging\n"));
    /// # Ok::<(), midstride_core::format::document::DocumentEditError>(())
    /// ```
    pub fn redact(&self, rules: &RedactionRules) -> Result<RedactedDocument, DocumentEditError> {
        let (text, redacted) = rules.clean(&self.text);
        if redacted.is_empty() {
            return Ok(RedactedDocument { text, document: self.clone(), redacted });
        }
        let document = Document::parse(text.as_str().as_bytes());
        if self.keeps_body_after(&redacted, &document)
            && self.keeps_header_after(&redacted, &document)
        {
            return Ok(RedactedDocument { text, document, redacted });
        }
        let in_header = redacted.iter().find(|redaction| redaction.at.start < self.body.start);
        let cause = in_header.unwrap_or(&redacted[0]);
        let line = self.position(cause.at.start).line;
        Err(DocumentEditError::RedactionWouldCorrupt { kind: cause.kind.to_string(), line })
    }

    /// Whether the body still starts where it did: no redaction crosses that line or hides it.
    fn keeps_body_after(&self, redacted: &[Redaction], after: &Document) -> bool {
        let start = self.body.start;
        let crosses = |at: Span| at.start < start && at.end > start;
        if redacted.iter().any(|redaction| crosses(redaction.at)) {
            return false;
        }
        let rest = |text: &str, start: usize| text.len() - start;
        let behind = redacted.iter().filter(|redaction| redaction.at.start >= start);
        let grown = |redaction: &Redaction| redaction.mark_len().cast_signed();
        let change: isize =
            behind.map(|behind| grown(behind) - behind.at.len().cast_signed()).sum();
        rest(&self.text, start).checked_add_signed(change)
            == Some(rest(&after.text, after.body.start))
    }

    /// Whether the header has the same fields, and every value and comment without a secret is
    /// unchanged. A header that could not be read before has no fields to compare.
    fn keeps_header_after(&self, redacted: &[Redaction], after: &Document) -> bool {
        if self.unreadable_count() > 0 {
            return true;
        }
        let same_fields = match (self.front_matter_data(), after.front_matter_data()) {
            (Some(old), Some(new)) => is_redacted_form(&old, &new),
            (old, new) => old.is_none() && new.is_none(),
        };
        same_fields
            && after.unreadable_count() == 0
            && self.keeps_untouched_comments(redacted, after)
    }

    fn keeps_untouched_comments(&self, redacted: &[Redaction], after: &Document) -> bool {
        let comments = |document: &Document| -> Vec<Span> {
            document.front_matter().map(|header| header.comments.clone()).unwrap_or_default()
        };
        let is_touched = |comment: &Span| {
            redacted.iter().any(|redaction| {
                redaction.at.start < comment.end && comment.start < redaction.at.end
            })
        };
        let (kept, theirs) = (comments(self), comments(after));
        let mut left = theirs.iter().map(|comment| comment.slice(&after.text).trim_end());
        kept.iter()
            .filter(|comment| !is_touched(comment))
            .all(|comment| left.any(|other| other == comment.slice(&self.text).trim_end()))
    }
}

/// Whether `new` is `old` with some of its words redacted.
fn is_redacted_form(old: &YamlData, new: &YamlData) -> bool {
    match (old, new) {
        (YamlData::Map(old), YamlData::Map(new)) => {
            let same =
                |((old_key, old), (new_key, new)): (&(String, YamlData), &(String, YamlData))| {
                    (old_key == new_key || has_redaction_mark(new_key))
                        && is_redacted_form(old, new)
                };
            old.len() == new.len() && old.iter().zip(new).all(same)
        }
        (YamlData::List(old), YamlData::List(new)) => {
            old.len() == new.len()
                && old.iter().zip(new).all(|(old, new)| is_redacted_form(old, new))
        }
        (YamlData::Text(_) | YamlData::Bare(_), YamlData::Text(text) | YamlData::Bare(text))
            if has_redaction_mark(text) =>
        {
            true
        }
        (old, new) => old.is_equivalent_to(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::redact::CustomRule;

    fn redact(text: &str, begins: &str, then: &str) -> Result<String, String> {
        let (kind, begins, then) = ("acme".to_owned(), begins.to_owned(), then.to_owned());
        let rule = CustomRule { kind, begins, then, multiline: true };
        let rules = RedactionRules::with_custom(&[rule]).unwrap();
        let redacted = Document::parse(text.as_bytes()).redact(&rules);
        let redacted = redacted.map_err(|error| error.to_string())?;
        assert_eq!(redacted.document.text(), redacted.text.as_str());
        Ok(redacted.text.as_str().to_owned())
    }

    const TEXT: &str = "---\n# part one\nhandoff:\n  id: party # spart\n  title: \"par: x\"\n  to: [parent, b]\n---\nThe party\n---\nend\n";

    #[test]
    fn a_redaction_inside_a_value_or_the_body_is_made() {
        let clean = redact(TEXT, "par", "ty").unwrap();
        assert_eq!(clean, TEXT.replace("party", "REDACTED-acme"));
        let clean = redact(TEXT, "par", ": x").unwrap();
        assert_eq!(clean, TEXT.replace("par: x", "REDACTED-acme"));
        let clean = redact(TEXT, "The", "(?s).+").unwrap();
        assert_eq!(
            clean,
            "---\n# part one\nhandoff:\n  id: party # spart\n  title: \"par: x\"\n  to: [parent, b]\n---\nREDACTED-acme"
        );
        let clean = redact(TEXT, "par", "t one").unwrap();
        assert_eq!(clean, TEXT.replace("part one", "REDACTED-acme"));
    }

    #[test]
    fn a_redaction_that_would_damage_the_header_is_refused() {
        let damaged = "redacting the `acme` on line 4 would damage the header";
        for (begins, then) in [
            ("party", "(?s).+"),
            ("party", " # spart\n"),
            ("party", " #[^\n]+\n  title"),
            ("party", "(?s).+---\n(?:The)"),
        ] {
            assert_eq!(redact(TEXT, begins, then).unwrap_err(), damaged, "{begins}{then}");
        }
        for (begins, then) in [("par", ": x\""), ("par", "ent, b\\]"), ("par", "ent,")] {
            assert!(redact(TEXT, begins, then).is_err(), "{begins}{then}");
        }
        assert!(redact("---\nhandoff:\n  id: a\n---\nx\n", "---", "\nhandoff").is_err());
    }

    #[test]
    fn an_unreadable_header_only_has_to_keep_its_body() {
        let broken = "---\nhandoff: [\n  id: party\n---\nThe body\n";
        assert_eq!(redact(broken, "par", "ty").unwrap(), broken.replace("party", "REDACTED-acme"));
        assert!(redact(broken, "par", "(?s).+").is_err());
    }
}
