//! Whether the user takes a limit back: "you can touch web/ now", "amending is fine".

use super::prose::{self, Sentence, has_any, starts_any, without_lead};

/// A stem of this length is shared by the forms of a word: amend, amending.
const STEM_MIN: usize = 4;

/// Words that say nothing about what a limit is about.
const COMMON: &str = "a about all always an and any anymore anything are as ask asking at avoid \
    be because before branch but by can circumstances code commits could do don't dont ever every \
    file files folder directory for forget forward from going hands has have here i if in into is \
    it its just keep may me must never new no not nothing now of off ok on only or our out own \
    please remember rule should so stay stop sure than that the their them then there these they \
    this to under until use using we when whenever which with without you your messes";

/// Whether a prompt takes a limit back.
pub fn revokes(text: &str, limit: &str) -> bool {
    let prose = prose::read(text);
    let limit = prose::words(limit);
    let keys: Vec<&str> = keys(clause(&limit)).collect();
    prose.sentences.iter().any(|sentence| revokes_in(sentence, &keys))
}

fn revokes_in(sentence: &Sentence, keys: &[&str]) -> bool {
    const RULE: &str = "the rule|my rule|that rule|the restriction|the instruction|the limit|\
        what i said about|the constraint|my instruction";
    const LIFT: &str = "forget|ignore|drop|scrap|lift|cancel|disregard|remove|never mind";
    if sentence.is_question || keys.is_empty() {
        return false;
    }
    let words = without_lead(&sentence.words);
    let shared = keys.iter().filter(|key| shares(words, key)).count();
    let path = keys.iter().find(|key| key.contains('/'));
    if starts_any(words, LIFT) && has_any(words, RULE) {
        return shared > 0;
    }
    let has_subject = match path {
        Some(path) => shares(words, path),
        None => shared * 10 >= keys.len() * 6,
    };
    has_subject && permits(words)
}

/// Whether a sentence allows something.
fn permits(words: &str) -> bool {
    const ALLOWED: &str = "you can|you may|you are allowed|you're allowed|feel free to|it's ok to|\
        it's okay to|it is ok to|it's fine to|it is fine to|is fine|is ok|is okay|is allowed|\
        are fine|are ok|are allowed|no longer applies|doesn't apply anymore|go ahead and";
    const LIFTED: &str = "you don't have to|you do not have to|no need to|you don't need to|\
        no longer have to|no longer need to|it's no longer necessary to";
    const DENIED: &str = "not fine|not ok|not okay|not allowed|you can not|only if|as long as|\
        if you ask|isn't ok|isn't fine|but not|unless";
    let ends_now = has_any(words, "anymore|any more|any longer|again|now|from now on");
    let is_lifted = starts_any(words, LIFTED) && ends_now;
    (has_any(words, ALLOWED) || is_lifted) && !has_any(words, DENIED)
}

/// The words of a limit that say what it is about.
fn keys(words: &str) -> impl Iterator<Item = &str> {
    let is_common = |word: &str| COMMON.split_ascii_whitespace().any(|common| common == word);
    words.split(' ').filter(move |word| word.len() > 1 && !is_common(word))
}

/// A limit up to its reason.
fn clause(words: &str) -> &str {
    let cut = |mark: &str| words.find(mark).unwrap_or(words.len());
    // A lead such as "remember," is no clause.
    let comma = words.find(", ").filter(|at| *at > 12).unwrap_or(words.len());
    &words[..comma.min(cut(" because ")).min(cut(" since "))]
}

/// Whether words have a key or another form of it.
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

    #[test]
    fn a_limit_is_taken_back_in_words_that_name_it() {
        for (text, limit) in [
            ("you can touch web/ now", "never touch web/"),
            ("web/ is fine now", "never touch web/"),
            ("amending is fine", "don't amend commits - it messes with the review"),
            ("forget the rule about pushing", "do not push without asking"),
            ("You may push from now on.", "do not push without asking"),
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
    fn other_permissions_leave_a_limit_alone() {
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
        ] {
            assert!(!revokes(text, limit), "{text} / {limit}");
        }
    }
}
