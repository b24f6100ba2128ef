//! How a text names something: words in a row, or enough of the words that tell it.

use super::statement::{Sort, Text, Token};
use super::words::stem;
use crate::search::{self, salient};
use std::collections::{BTreeMap, BTreeSet};

/// So many words of a long text are enough to know it again.
const ENOUGH: usize = 4;

/// A way in which a text may name something.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    form: Form,
    /// One of these must stand in the same statement; none: nothing must.
    beside: &'static [&'static str],
    /// Whether a capital makes a name of a single word, as in `Makefile`.
    is_capital: bool,
    /// A statement of this sort needs nothing beside.
    sort: Option<Sort>,
}

#[derive(Clone, Debug)]
enum Form {
    /// These words in a row. A single word may be any word, so it must be written as a name.
    Row(Vec<String>),
    /// So many of these words, in a sentence and the one behind it.
    Some(BTreeSet<String>, usize),
}

impl Trace {
    /// Words in a row; none where there is no word.
    pub(super) fn row(text: &str) -> Option<Self> {
        let words: Vec<String> = search::words(text).iter().map(|word| stem(&word.text)).collect();
        let is_capital = text.starts_with(char::is_uppercase);
        let form = Form::Row(words);
        (!search::words(text).is_empty()).then_some(Self {
            form,
            beside: &[],
            is_capital,
            sort: None,
        })
    }

    /// Enough of the words that tell a text. Where hardly a word does, all of it in a row; then, and
    /// where one word has to do, something must stand beside.
    pub(super) fn telling(text: &str, beside: &'static [&'static str]) -> Option<Self> {
        let words: BTreeSet<String> = salient(text)
            .into_iter()
            .flat_map(|salient| salient.term.words)
            .map(|word| stem(&word))
            .collect();
        match words.len() {
            0 => Some(Self { beside, ..Self::row(text)? }),
            1 => Some(Self { form: Form::Some(words, 1), beside, is_capital: false, sort: None }),
            many => {
                let need = many.div_ceil(2).clamp(2, ENOUGH);
                let form = Form::Some(words, need);
                Some(Self { form, beside: &[], is_capital: false, sort: None })
            }
        }
    }

    /// The same, only where one of these words, or a statement of a sort, makes clear what is meant.
    #[must_use]
    pub(super) fn beside(mut self, beside: &'static [&'static str], sort: Option<Sort>) -> Self {
        self.beside = beside;
        self.sort = sort;
        self
    }

    /// The words that name it.
    pub(super) fn words(&self) -> impl Iterator<Item = &String> {
        let (row, some) = match &self.form {
            Form::Row(words) => (Some(words), None),
            Form::Some(words, _) => (None, Some(words)),
        };
        row.into_iter().flatten().chain(some.into_iter().flatten())
    }

    /// The sentences that name it.
    pub(super) fn find(&self, text: &Text) -> Vec<usize> {
        let mut found = match &self.form {
            // What stands beside makes a single word clear.
            Form::Row(words) => in_a_row(words, !self.beside.is_empty(), self.is_capital, text),
            Form::Some(words, need) => enough(words, *need, text),
        };
        found.retain(|sentence| self.is_meant(*sentence, text));
        found
    }

    fn is_meant(&self, sentence: usize, text: &Text) -> bool {
        let statement = text.statement_of(sentence);
        let all = statement.sentences.clone().chain(statement.heading);
        let has = |word: &&'static str| {
            let stem = stem(&search::words(word).first().map_or(String::new(), |w| w.text.clone()));
            all.clone().any(|one| text.having(&stem).binary_search(&one).is_ok())
        };
        let by_sort = self.sort.is_some_and(|sort| sort == statement.sort);
        self.beside.is_empty() || by_sort || self.beside.iter().any(has)
    }
}

fn in_a_row(words: &[String], is_clear: bool, by_capital: bool, text: &Text) -> Vec<usize> {
    let Some(first) = words.first() else { return Vec::new() };
    let fits = |tokens: &[Token]| {
        let is_written = tokens[0].is_code || (by_capital && tokens[0].is_capital);
        let is_name = is_clear || words.len() > 1 || is_written;
        is_name && tokens.iter().zip(words).all(|(token, word)| token.stem == *word)
    };
    let in_sentence = |sentence: &&usize| {
        let tokens = &text.sentences[**sentence].tokens;
        tokens.windows(words.len()).any(fits)
    };
    text.having(first).iter().filter(in_sentence).copied().collect()
}

fn enough(words: &BTreeSet<String>, need: usize, text: &Text) -> Vec<usize> {
    let mut here: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for word in words {
        for sentence in text.having(word) {
            here.entry(*sentence).or_default().insert(word);
            let is_first = text.statement_of(*sentence).sentences.start == *sentence;
            if !is_first {
                here.entry(sentence - 1).or_default().insert(word);
            }
        }
    }
    here.into_iter().filter(|(_, has)| has.len() >= need).map(|(sentence, _)| sentence).collect()
}
