//! Finds prompts that revoke a limit: "you can touch web/ now", "amending is fine".

use super::prose::{self, Sentence, has_any, starts_any, without_lead};

/// Forms of a word share a stem of at least this length: amend, amending.
const STEM_MIN: usize = 4;

/// Words that do not identify the subject of a limit.
const COMMON: &str = "a about all always an and any anymore anything are as ask asking at avoid \
    be because before branch but by can circumstances code commits could do don't dont ever every \
    file files folder directory for forget forward from going hands has have here i if in into is \
    it its just keep may me must never new no not nothing now of off ok on only or our out own \
    please remember rule should so stay stop sure than that the their them then there these they \
    this to under until use using we when whenever which with without you your messes";

/// What a prompt allows, parsed once and compared with many limits. Most prompts allow nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PromptPermissions(Vec<Permission>);

/// A sentence that allows something.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Permission {
    words: String,
    kind: PermissionKind,
}

/// How a sentence allows something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PermissionKind {
    /// "Forget the rule about pushing."
    Lift,
    /// "You can push now."
    Allow,
    /// "Pushing is fine.": the limited action comes directly before the verb.
    Statement,
}

impl PromptPermissions {
    /// Finds the sentences of a prompt that allow something.
    pub(crate) fn parse(text: &str) -> Self {
        let sentences = prose::parse_prose(text).sentences.into_iter();
        Self(sentences.filter_map(|sentence| parse_permission(&sentence)).collect())
    }

    /// Whether one of them revokes a limit.
    pub(crate) fn revoke(&self, limit: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let limit = prose::words(limit);
        let keys: Vec<&str> = keys(clause(&limit)).collect();
        self.0.iter().any(|permission| permission.is_about(&keys))
    }
}

impl Permission {
    fn is_about(&self, keys: &[&str]) -> bool {
        let shared = keys.iter().filter(|key| shares(&self.words, key)).count();
        let path = keys.iter().find(|key| key.contains('/'));
        let has_subject = match path {
            Some(path) => shares(&self.words, path),
            None => shared > 0 && shared * 10 >= keys.len() * 6,
        };
        match self.kind {
            PermissionKind::Lift => shared > 0,
            PermissionKind::Allow => has_subject,
            PermissionKind::Statement => has_subject && self.subject_is(keys),
        }
    }

    /// Whether the word before "is fine" is one of the keys. "The web/ build is ok" is about a
    /// build.
    fn subject_is(&self, keys: &[&str]) -> bool {
        let before = STATED.split('|').filter_map(|stated| self.words.find(stated)).min();
        let before = before.map_or("", |at| &self.words[..at]);
        let subject = before.split_whitespace().next_back().unwrap_or_default();
        keys.iter().any(|key| shares(subject, key))
    }
}

const STATED: &str = " is fine| is ok| is okay| is allowed| are fine| are ok| are okay| are allowed|\
     no longer applies| doesn't apply anymore";

fn parse_permission(sentence: &Sentence) -> Option<Permission> {
    const RULE: &str = "the rule|my rule|that rule|the restriction|the instruction|the limit|\
        what i said about|the constraint|my instruction";
    const LIFT: &str = "forget|ignore|drop|scrap|lift|cancel|disregard|remove|never mind";
    if sentence.is_question {
        return None;
    }
    let words = without_lead(&sentence.words);
    let kind = match starts_any(words, LIFT) && has_any(words, RULE) {
        true => PermissionKind::Lift,
        false => permission_kind(words)?,
    };
    Some(Permission { words: words.to_owned(), kind })
}

/// How a sentence allows something. An ambiguous sentence allows nothing, so the limit stays.
pub(super) fn permission_kind(words: &str) -> Option<PermissionKind> {
    const ALLOWED: &str = "you can|you may|you are allowed|you're allowed|feel free to|it's ok to|\
        it's okay to|it is ok to|it's fine to|it is fine to|go ahead and|now you can|now you may|\
        from now on you can|from now on you may";
    const SEEN: &str = "you can see|you can tell|you may have|you may want|you can imagine";
    const LIFTED: &str = "you don't have to|you do not have to|no need to|you don't need to|\
        no longer have to|no longer need to|it's no longer necessary to";
    const DENIED: &str = "not fine|not ok|not okay|not allowed|you can not|only if|as long as|\
        if you ask|isn't ok|isn't fine|but not|unless";
    let ends_now = has_any(words, "anymore|any more|any longer|again|now|from now on");
    let is_lifted = starts_any(words, LIFTED) && ends_now;
    if has_any(words, DENIED) || has_any(words, SEEN) {
        return None;
    }
    if starts_any(words, ALLOWED) || is_lifted {
        return Some(PermissionKind::Allow);
    }
    STATED.split('|').any(|stated| words.contains(stated)).then_some(PermissionKind::Statement)
}

/// The words of a limit that identify its subject.
fn keys(words: &str) -> impl Iterator<Item = &str> {
    let is_common = |word: &str| COMMON.split_ascii_whitespace().any(|common| common == word);
    words.split(' ').filter(move |word| word.len() > 1 && !is_common(word))
}

/// The part of a limit before its reason.
fn clause(words: &str) -> &str {
    let cut = |mark: &str| words.find(mark).unwrap_or(words.len());
    // A lead such as "remember," is not a clause.
    let comma = words.find(", ").filter(|at| *at > 12).unwrap_or(words.len());
    &words[..comma.min(cut(" because ")).min(cut(" since "))]
}

/// Whether the words contain a key or another form of it.
fn shares(words: &str, key: &str) -> bool {
    let is_form = |word: &str| {
        let same = word.chars().zip(key.chars()).take_while(|(one, other)| one == other).count();
        let stem = STEM_MIN.max(key.chars().count().saturating_sub(3));
        word == key || (same >= stem && !key.contains('/'))
    };
    words.split(' ').any(is_form)
        || (key.ends_with('/') && words.split(' ').any(|word| word == &key[..key.len() - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revokes(text: &str, limit: &str) -> bool {
        PromptPermissions::parse(text).revoke(limit)
    }

    #[test]
    fn a_permission_that_names_a_limit_revokes_it() {
        for (text, limit) in [
            ("you can touch web/ now", "never touch web/"),
            ("web/ is fine now", "never touch web/"),
            ("amending is fine", "don't amend commits - it messes with the review"),
            ("forget the rule about pushing", "do not push without asking"),
            ("You may push from now on.", "do not push without asking"),
            (
                "You may push to main without asking from now on.",
                "Please never push to main without asking.",
            ),
            ("adding dependencies is ok", "No new dependencies please."),
            (
                "you don't have to run the linter anymore",
                "Always run the linter before committing.",
            ),
            ("feel free to edit the files in vendor/", "Never edit the files in vendor/."),
        ] {
            assert!(revokes(text, limit), "{text} / {limit}");
        }
    }

    #[test]
    fn unrelated_permissions_do_not_revoke_a_limit() {
        for (text, limit) in [
            ("you can touch docs/ now", "never touch web/"),
            ("can you touch web/?", "never touch web/"),
            ("fix the header in web/index.html", "never touch web/"),
            ("amending is not ok", "don't amend commits"),
            ("you can commit now", "Do not commit to main."),
            ("you can push if you ask", "do not push without asking"),
            ("the tests are fine", "never touch web/"),
            ("continue", "never touch web/"),
            ("forget the rule about tabs", "do not push without asking"),
            (
                "As you can see in the log, the push was rejected by the server.",
                "Do not push without asking.",
            ),
            ("You can see that the push failed.", "Do not push without asking."),
            ("The web/ build is ok, look at the api instead.", "Never touch web/ in this project."),
            ("The log says you can push.", "Do not push without asking."),
        ] {
            assert!(!revokes(text, limit), "{text} / {limit}");
        }
    }
}
