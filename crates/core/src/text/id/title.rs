//! Makes a short id from a title: identifiers and numbers first, then the other key words.

use super::HandoffId;

/// The maximum length of an id that is made from a title. It is short enough to type and leaves
/// space for the title in a table.
pub const TITLE_ID_LENGTH_MAX: usize = 24;

/// The maximum number of words in such an id.
const WORDS_MAX: usize = 4;

/// Words that say nothing about the topic. They are used only if a title has no others.
const STOP_WORDS: &str = " \
 a after all also an and any are arent as at be because been before being but by can cannot cant could couldnt did didnt \
 do does doesnt doing dont during every fix fixed fixes fixing for from get gets getting had has hasnt have having how i if \
 in into is isnt it its just let lets make makes making may more must my need needs no nor not now of on once only or our \
 over s should since so some still such t take takes taking than that the their them then there these they this those \
 through to too under until up us use uses using very was wasnt we were werent what when where which while who whose \
 why will with without wont would you your ";

/// A part of a title that stays whole in the id.
struct TitleWord {
    text: String,
    kind: WordKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WordKind {
    /// A ticket such as `ABC-123`, or a word with digits, an underscore or inner capitals.
    Name,
    Key,
    Stop,
}

impl HandoffId {
    /// Makes an id from the key words of a title. Returns `None` if the title has no letter or
    /// digit that an id can contain.
    pub fn from_title(title: &str) -> Option<Self> {
        let plain: String = title.chars().filter(|c| !matches!(c, '\'' | '’')).collect();
        let words: Vec<TitleWord> = plain.split_whitespace().flat_map(chunk_words).collect();
        let mut chosen = chosen_words(&words, &[WordKind::Name, WordKind::Key]);
        if chosen.is_empty() {
            chosen = chosen_words(&words, &[WordKind::Stop]);
        }
        let text = match chosen.is_empty() {
            true => {
                let longest_start = |word: &TitleWord| cut(&word.text, TITLE_ID_LENGTH_MAX);
                words.first().map(longest_start)?
            }
            false => chosen.join("-"),
        };
        Self::parse(&text).ok()
    }

    /// The id with a number, for a title whose id is taken. It drops words to stay short.
    #[must_use]
    pub fn numbered(&self, number: usize) -> Option<Self> {
        let suffix = format!("-{number}");
        let room = TITLE_ID_LENGTH_MAX.saturating_sub(suffix.len());
        let mut base = self.as_str();
        while base.len() > room {
            let Some((shorter, _)) = base.rsplit_once('-') else { break };
            base = shorter;
        }
        Self::parse(&format!("{}{suffix}", cut(base, room))).ok()
    }
}

/// The words of these kinds that fit, in the order of the title. Words of the first kind get their
/// place first.
fn chosen_words<'w>(words: &'w [TitleWord], kinds: &[WordKind]) -> Vec<&'w str> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut length = 0;
    for kind in kinds {
        for (index, word) in words.iter().enumerate().filter(|(_, word)| word.kind == *kind) {
            if chosen.iter().any(|at| words[*at].text == word.text) {
                continue;
            }
            let longer = length + word.text.len() + usize::from(length > 0);
            if longer > TITLE_ID_LENGTH_MAX || chosen.len() == WORDS_MAX {
                break;
            }
            chosen.push(index);
            length = longer;
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|index| words[index].text.as_str()).collect()
}

/// The words of a part of the title without blanks.
fn chunk_words(chunk: &str) -> Vec<TitleWord> {
    let chunk = chunk.trim_matches(|c: char| !c.is_alphanumeric());
    if is_ticket(chunk) {
        return vec![TitleWord { text: chunk.to_ascii_lowercase(), kind: WordKind::Name }];
    }
    let parts = chunk.split(|c: char| !c.is_alphanumeric() && c != '_');
    parts.flat_map(part_words).collect()
}

/// The words of a part without punctuation. Letters that have no ASCII form separate words.
fn part_words(part: &str) -> Vec<TitleWord> {
    let has_inner_capital = part
        .chars()
        .zip(part.chars().skip(1))
        .any(|(before, after)| before.is_lowercase() && after.is_uppercase());
    let lower: String = part.to_lowercase().chars().map(without_accent).collect();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let words = words.map(|word| word.trim_matches('_')).filter(|word| !word.is_empty());
    let kind = |word: &str| {
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        let has_letter = word.bytes().any(|byte| byte.is_ascii_alphabetic());
        if has_inner_capital || word.contains('_') || (has_digit && has_letter) {
            WordKind::Name
        } else if STOP_WORDS.contains(&format!(" {word} ")) {
            WordKind::Stop
        } else {
            WordKind::Key
        }
    };
    words.map(|word| TitleWord { text: word.to_owned(), kind: kind(word) }).collect()
}

/// Whether a text is the name of a ticket, such as `ABC-123`.
fn is_ticket(text: &str) -> bool {
    text.split_once('-').is_some_and(|(project, number)| {
        project.len() >= 2
            && project.bytes().all(|byte| byte.is_ascii_alphabetic())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The start of an ASCII text, without punctuation at its end.
fn cut(text: &str, length: usize) -> String {
    text[..text.len().min(length)].trim_end_matches(['-', '_', '.']).to_owned()
}

/// Transliterates an accented letter to ASCII.
fn without_accent(letter: char) -> String {
    match letter {
        'ä' | 'æ' => "ae".to_owned(),
        'ö' | 'ø' | 'œ' => "oe".to_owned(),
        'ü' => "ue".to_owned(),
        'ß' => "ss".to_owned(),
        'à' | 'á' | 'â' | 'ã' | 'å' | 'ą' => "a".to_owned(),
        'ç' | 'ć' | 'č' => "c".to_owned(),
        'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ě' => "e".to_owned(),
        'ì' | 'í' | 'î' | 'ï' => "i".to_owned(),
        'ł' => "l".to_owned(),
        'ñ' | 'ń' => "n".to_owned(),
        'ò' | 'ó' | 'ô' | 'õ' => "o".to_owned(),
        'ś' | 'š' => "s".to_owned(),
        'ù' | 'ú' | 'û' => "u".to_owned(),
        'ý' => "y".to_owned(),
        'ź' | 'ż' | 'ž' => "z".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(title: &str) -> String {
        HandoffId::from_title(title).map_or_else(String::new, |id| id.to_string())
    }

    #[test]
    fn an_id_has_the_key_words_of_a_title() {
        let cases = [
            ("Fix the y2038 overflow", "y2038-overflow"),
            ("Market pages take 14 s after a cache purge", "market-pages-14-cache"),
            ("Why is the login page slow when the cache is cold?", "login-page-slow-cache"),
            ("It doesn't start with the new kernel", "start-new-kernel"),
            ("Fix it", "fix-it"),
            ("The", "the"),
            ("A", "a"),
        ];
        for (title, expected) in cases {
            assert_eq!(id(title), expected, "{title}");
        }
    }

    #[test]
    fn identifiers_and_tickets_are_kept_whole_wherever_they_stand() {
        let cases = [
            ("ABC-123: sign-in fails after an upgrade", "abc-123-sign-fails"),
            ("Payments are charged twice on retry (PAY-4711)", "payments-pay-4711"),
            ("`parse_header` panics on an empty line", "parse_header-panics"),
            ("Timeouts in RetryPolicy", "timeouts-retrypolicy"),
            ("__init__ is slow", "init-slow"),
        ];
        for (title, expected) in cases {
            assert_eq!(id(title), expected, "{title}");
        }
    }

    #[test]
    fn only_a_word_that_is_too_long_is_cut() {
        assert_eq!(id("internationalizationconfiguration fails"), "internationalizationconf");
        assert_eq!(id("slow internationalizationconfiguration"), "slow");
        assert_eq!(id("aaaaaaaaaaaaaaaaaaaaaa_b fails"), "aaaaaaaaaaaaaaaaaaaaaa_b");
        assert_eq!(id("aaaaaaaaaaaaaaaaaaaaaaa__b"), "aaaaaaaaaaaaaaaaaaaaaaa");
    }

    #[test]
    fn letters_without_an_ascii_form_are_dropped() {
        assert_eq!(id("Größe der Fläche"), "groesse-der-flaeche");
        assert_eq!(id("日本語 cache"), "cache");
        assert_eq!(HandoffId::from_title("日本語"), None);
        assert_eq!(HandoffId::from_title("con"), None);
    }

    #[test]
    fn a_number_replaces_words_that_do_not_fit() {
        let numbered = |id: &str, number| HandoffId::parse(id).unwrap().numbered(number).unwrap();
        assert_eq!(numbered("y2038-overflow", 2).as_str(), "y2038-overflow-2");
        assert_eq!(numbered("payments-charged-pay-471", 2).as_str(), "payments-charged-pay-2");
        assert_eq!(numbered("internationalizationconf", 12).as_str(), "internationalizationc-12");
    }

    proptest! {
        #[test]
        fn an_id_is_short_valid_and_stable(title in ".{0,80}|[A-Za-z0-9_ '’./-]{0,80}") {
            let made = HandoffId::from_title(&title);
            prop_assert_eq!(&made, &HandoffId::from_title(&title));
            if let Some(id) = made {
                for id in [&id, &id.numbered(2).unwrap(), &id.numbered(999).unwrap()] {
                    prop_assert!(HandoffId::parse(id.as_str()).is_ok());
                    prop_assert!((1..=TITLE_ID_LENGTH_MAX).contains(&id.as_str().len()));
                    prop_assert!(!id.as_str().starts_with('-') && !id.as_str().ends_with('-'));
                }
            }
        }

        #[test]
        fn a_title_with_a_letter_has_an_id(title in "[ -~]{0,40}[b-z]{4,9}[ -~]{0,40}") {
            prop_assert!(HandoffId::from_title(&title).is_some());
        }
    }
}
