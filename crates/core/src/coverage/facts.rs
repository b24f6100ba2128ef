//! What the session itself says, word for word: repeating it explains nothing. And its vocabulary:
//! an explanation that uses it is about this session.

use super::words::{Hollow, stem};
use crate::checkpoint::Checkpoint;
use crate::search::{self, is_telling};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// So many words in a row are a quote.
const QUOTED_MIN: usize = 4;

/// What the session says.
pub(super) struct Facts {
    rows: HashSet<u64>,
    vocabulary: HashSet<String>,
}

impl Facts {
    /// Collects what a checkpoint has.
    pub(super) fn of(checkpoint: &Checkpoint, hollow: &Hollow) -> Self {
        let mut facts = Self { rows: HashSet::new(), vocabulary: HashSet::new() };
        facts.take(&checkpoint.page(), hollow);
        each_text(checkpoint, &mut |text| facts.take(text, hollow));
        facts
    }

    fn take(&mut self, text: &str, hollow: &Hollow) {
        let mut stems = Vec::new();
        for word in search::words(text) {
            let stem = stem(&word.text);
            if is_telling(&word.text) && !hollow.has(&stem) {
                self.vocabulary.insert(stem.clone());
            }
            stems.push(stem);
        }
        self.rows.extend(stems.windows(QUOTED_MIN).map(hashed));
    }

    /// Whether the session has a word.
    pub(super) fn know(&self, stem: &str) -> bool {
        self.vocabulary.contains(stem)
    }

    /// Which words of a sentence are the session's own, in its order.
    pub(super) fn quoted(&self, stems: &[String]) -> Vec<bool> {
        let mut quoted = vec![false; stems.len()];
        for (at, row) in stems.windows(QUOTED_MIN).enumerate() {
            if self.rows.contains(&hashed(row)) {
                quoted[at..at + QUOTED_MIN].fill(true);
            }
        }
        quoted
    }
}

fn hashed(row: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.hash(&mut hasher);
    hasher.finish()
}

/// Every text of a session; its page shows only the first of many.
fn each_text(checkpoint: &Checkpoint, take: &mut dyn FnMut(&str)) {
    let session = &checkpoint.session;
    session.requests.iter().for_each(|one| take(&one.text));
    session.queued.iter().for_each(|one| take(&one.text));
    for one in &session.answers {
        take(&one.question);
        take(&one.answer);
    }
    for command in &session.commands {
        take(&command.text);
        command.error.iter().for_each(|error| take(error));
    }
    session.errors.iter().for_each(|error| take(&error.text));
    session.files.by_path.keys().for_each(|path| take(path));
    for task in &session.tasks {
        take(&task.subject);
        task.description.iter().for_each(|text| take(text));
    }
    for agent in &session.agents {
        agent.about.iter().chain(&agent.prompt).for_each(|text| take(text));
    }
    for one in &session.rejections {
        one.about.iter().chain(&one.said).for_each(|text| take(text));
    }
    session.plans.iter().filter_map(|plan| plan.text.as_deref()).for_each(&mut *take);
    session.last_words.iter().for_each(|words| take(&words.text));
}
