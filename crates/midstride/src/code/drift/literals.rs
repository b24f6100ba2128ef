//! Compares the literals of a sentence with the files that it cites.

use super::DriftChecker;
use super::origin::{OriginContent, ResolvedOrigin};
use crate::code::code_state::PathContent;
use midstride_core::handoff::citation::Citation;
use midstride_core::handoff::code_text::CodeText;
use midstride_core::handoff::drift::{
    CitationCheck, CitationOrigin, CitationOutcome, CitedFile, find_literal_drift, sentences,
};
use midstride_core::text::span::Span;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A sentence that cites more files is a list, and its literals are about none of them.
const FILES_MAX: usize = 4;

/// Both versions of a cited file, with the number of its first citation.
struct FileVersions {
    citation: usize,
    was: Option<Arc<CodeText>>,
    is: Option<Arc<CodeText>>,
}

impl DriftChecker<'_> {
    /// Adds the literals that are gone to the checks of the files that had them. Only sentences that
    /// cite a changed file are read.
    pub(super) fn add_literals(
        &self,
        text: &str,
        citations: &[Citation<'_>],
        bases: &[ResolvedOrigin],
        checks: &mut [CitationCheck],
    ) {
        for (sentence, cited) in citations_by_sentence(text, citations, checks) {
            let Some(files) = self.file_versions(&cited, bases, checks) else { continue };
            let versions: Vec<CitedFile<'_>> = files
                .iter()
                .map(|file| CitedFile { was: file.was.as_deref(), is: file.is.as_deref() })
                .collect();
            for (number, drift) in find_literal_drift(text, sentence, &versions) {
                checks[files[number].citation].literals.push(drift);
            }
        }
    }

    /// Both versions of each cited file; `None` if one of them is not certain, or the change is
    /// reported already.
    fn file_versions(
        &self,
        cited: &[usize],
        bases: &[ResolvedOrigin],
        checks: &[CitationCheck],
    ) -> Option<Vec<FileVersions>> {
        let mut files: BTreeMap<&str, usize> = BTreeMap::new();
        for number in cited {
            files.entry(&bases[*number].path).or_insert(*number);
            let is_reported = matches!(checks[*number].outcome, CitationOutcome::Changed { .. });
            if is_reported || files.len() > FILES_MAX {
                return None;
            }
        }
        files.into_values().map(|one| self.versions(one, &bases[one], &checks[one])).collect()
    }

    fn versions(
        &self,
        citation: usize,
        base: &ResolvedOrigin,
        check: &CitationCheck,
    ) -> Option<FileVersions> {
        let is_certain = !base.is_chosen
            && matches!(
                base.origin,
                CitationOrigin::Anchor | CitationOrigin::Blame(_) | CitationOrigin::AtCommit(_)
            );
        let was = match &base.content {
            OriginContent::File { .. } => Some(self.origin_text(&base.content)?),
            OriginContent::Missing | OriginContent::Folder => None,
            OriginContent::Unknown(_) => return None,
        };
        let path = check.outcome.location().map_or(base.path.as_str(), |now| now.path.as_str());
        let is = match self.code.content_at(&self.now, path) {
            PathContent::File { text } => Some(text?),
            PathContent::Missing | PathContent::Folder => None,
            PathContent::Unreadable(_) => return None,
        };
        is_certain.then_some(FileVersions { citation, was, is })
    }
}

/// The citations of each sentence that cites a changed file.
fn citations_by_sentence(
    text: &str,
    citations: &[Citation<'_>],
    checks: &[CitationCheck],
) -> BTreeMap<Span, Vec<usize>> {
    let mut split: HashMap<Span, Vec<Span>> = HashMap::new();
    for (citation, check) in citations.iter().zip(checks) {
        if check.file_changed && !citation.is_in_code() {
            let statement = citation.statement;
            split.entry(statement).or_insert_with(|| sentences(text, statement));
        }
    }
    let mut cited: BTreeMap<Span, Vec<usize>> = BTreeMap::new();
    for (number, citation) in citations.iter().enumerate() {
        let Some(parts) = split.get(&citation.statement) else { continue };
        let after = parts.partition_point(|part| part.start <= citation.written.at.start);
        if let Some(sentence) = after.checked_sub(1).and_then(|index| parts.get(index)) {
            cited.entry(*sentence).or_default().push(number);
        }
    }
    let has_changed = |cited: &[usize]| cited.iter().any(|number| checks[*number].file_changed);
    cited.retain(|_, cited| has_changed(cited));
    cited
}
