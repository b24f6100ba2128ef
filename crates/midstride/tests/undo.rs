//! Property tests of undo: any sequence of verbs can be undone one by one, down to the first byte.

use crate::{because, open};
use midstride::journal::JournalError;
use midstride::store::Store;
use midstride::store::revisions::RevisionError;
use midstride::verbs::{
    ApplyError, FmtError, FormatOutcome, ReviewError, ReviewRequest, ReviseError, ReviseOutcome,
    UndoError, apply, fmt, review, revise, undo,
};
use midstride::workspace::StoredHandoff;
use midstride_core::format::document::Document;
use midstride_core::format::finding::Code;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::lifecycle::{
    self, CloseReason, LifecycleRefusal, MeasuredValue, ReviewCorrection, ReviewVerdict,
};
use midstride_core::text::edit::{Edit, HeaderPath};
use midstride_core::text::id::CommitId;
use midstride_testkit::{NOW, Sandbox, fixtures, markdown_below};
use proptest::prelude::*;
use proptest::sample::{Index, select};

const FILE: &str = ".midstride/handoffs/a.md";

/// A change to a handoff.
#[derive(Clone, Debug)]
enum Deed {
    Start,
    Answer(usize, &'static str),
    Validate(usize, bool),
    Resolve(CloseReason),
    Review(ReviewVerdict, Option<&'static str>),
    /// A body without a header.
    Body(&'static str),
    /// The current text, changed.
    Whole(Touch, &'static str),
    /// A text based on an earlier revision.
    Late(Index),
    Fmt,
    Undo,
    /// An editor that does not know about midstride.
    Outside(Touch),
}

/// A way to change a text by hand.
#[derive(Clone, Copy, Debug)]
enum Touch {
    Paragraph,
    LastLineGone,
    Title,
    Comment,
    OwnKey,
    HistoryGone,
    UidGone,
    OtherLineBreaks,
}

impl Touch {
    /// The text after the change; the number makes each change unique. A change that would make it
    /// no longer a handoff is not applied.
    fn apply(self, text: &str, number: usize) -> String {
        let touched = self.touched(text, number);
        let document = Document::parse(touched.as_bytes());
        let broken = document.findings().iter().any(|finding| finding.code == Code::Syntax);
        let is_handoff = document.handoff_header().is_some() && !broken;
        if is_handoff { touched } else { text.to_owned() }
    }

    fn touched(self, text: &str, number: usize) -> String {
        let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let below_id = |line: &str| match text
            .find("id: ")
            .and_then(|at| text[at..].find('\n').map(|end| at + end + 1))
        {
            Some(at) => format!("{}  {line}{eol}{}", &text[..at], &text[at..]),
            None => text.to_owned(),
        };
        match self {
            Self::Paragraph => format!("{text}{eol}{eol}Paragraph {number}."),
            Self::LastLineGone => match text.trim_end().rsplit_once('\n') {
                Some((rest, line)) if !line.starts_with("---") => rest.to_owned(),
                _ => text.to_owned(),
            },
            Self::Title => text.replacen("title: ", &format!("title: No {number}. "), 1),
            Self::Comment => below_id(&format!("# remark {number}")),
            Self::OwnKey => below_id(&format!("own_{number}: [1, 2] # ours")),
            Self::HistoryGone => without(&Document::parse(text.as_bytes()), &["revisions"])
                .unwrap_or_else(|| text.to_owned()),
            Self::UidGone => without(&Document::parse(text.as_bytes()), &["uid"])
                .unwrap_or_else(|| text.to_owned()),
            Self::OtherLineBreaks if eol == "\n" => text.replace('\n', "\r\n"),
            Self::OtherLineBreaks => text.replace("\r\n", "\n"),
        }
    }
}

fn touch() -> impl Strategy<Value = Touch> {
    select(vec![
        Touch::Paragraph,
        Touch::Paragraph,
        Touch::LastLineGone,
        Touch::Title,
        Touch::Comment,
        Touch::OwnKey,
        Touch::HistoryGone,
        Touch::UidGone,
        Touch::OtherLineBreaks,
    ])
}

/// What users write, including words that midstride uses itself.
fn words() -> impl Strategy<Value = &'static str> {
    select(vec![
        "wrong code path",
        "merged",
        "started",
        "it: was # \"so\"",
        "two\nlines",
        "日本 – é",
        "- item",
        "undo",
    ])
}

fn deed() -> impl Strategy<Value = Deed> {
    let ending = prop_oneof![
        words().prop_map(|outcome| CloseReason::Resolved {
            commit: Some(CommitId::new("4f2c9d1")),
            outcome: Some(outcome.to_owned())
        }),
        Just(CloseReason::Superseded("other".to_owned())),
        words().prop_map(|reason| CloseReason::Abandoned(reason.to_owned())),
    ];
    let verdict =
        select(vec![ReviewVerdict::Held, ReviewVerdict::Corrected, ReviewVerdict::Rejected]);
    let body = select(vec!["", "## Plan\n\nDo it.\n", "\n\nno end", "one\r\ntwo\r\n", "---\n"]);
    prop_oneof![
        1 => Just(Deed::Start),
        2 => (1..3_usize, words()).prop_map(|(number, text)| Deed::Answer(number, text)),
        1 => (1..3_usize, any::<bool>()).prop_map(|(number, holds)| Deed::Validate(number, holds)),
        1 => ending.prop_map(Deed::Resolve),
        2 => (verdict, prop::option::of(words())).prop_map(|(v, text)| Deed::Review(v, text)),
        2 => body.prop_map(Deed::Body),
        4 => (touch(), words()).prop_map(|(touch, reason)| Deed::Whole(touch, reason)),
        1 => any::<Index>().prop_map(Deed::Late),
        2 => Just(Deed::Fmt),
        3 => Just(Deed::Undo),
        1 => touch().prop_map(Deed::Outside),
    ]
}

/// Documents as users write them.
fn document() -> impl Strategy<Value = String> {
    let own = [
        // A history kept by hand, with comments in it.
        "---\n# on top\nhandoff:\n  revisions:\n    # by hand\n    - at: 2026-03-22 # a day\n      reason: typo\n    # and nothing since\n  status: Planned (soon) # now\n  id: a # the name\n---\n\nText.",
        // Loose values, no final line break.
        "---\nhandoff:\n  id: a\n  to: architect\n  status: IN PROGRESS\n  open_questions: May it be old?\n  assumptions:\n    - The index exists\n  revisions: fixed it\n---\nText",
        // Everything in one line.
        "---\nhandoff: {id: a, open_questions: [{question: q}], revisions: []}\n---\n",
        "---\r\nhandoff:\r\n  title: t\r\n  id: a\r\n  revisions:\r\n  open_questions:\r\n  - question: q\r\n  # at the end\r\n---\r\n\r\nText.\r\n",
        // A foreign header, a byte order mark, a custom uid, a list without indentation.
        "\u{feff}---\nname: x\nhandoff:\n    id: a\n    uid: 'Own One/2'\n    open_questions:\n    -   question: q\n        own: {a: 1}\n    revisions:\n    -   reason: first\ntags: [a]\n---\n## Handoff\n",
        "---\nhandoff:\n  id: a\n  uid:\n  revisions: [{at: 2026-03-22, reason: x}] # short\n  assumptions: [a, b]\n---\n\n# A\n\nOne.\n\n---\n\nTwo.\n",
        "---\nhandoff:\n  uid: \"\"\n  id: a\n\n  title: >-\n    folded\n    text\n\n  revisions: # none yet\n\n---\nText.\n\n\n",
        // No id, no status, nothing.
        "---\nhandoff:\n---\n",
    ];
    let good = markdown_below(&fixtures("good"));
    let good = good.iter().filter_map(|path| String::from_utf8(std::fs::read(path).unwrap()).ok());
    let is_handoff = |text: &String| Document::parse(text.as_bytes()).handoff_header().is_some();
    let good: Vec<String> = good.filter(is_handoff).collect();
    prop_oneof![2 => select(own.map(str::to_owned).to_vec()), 1 => select(good)]
}

/// The text without these fields; `None` if they cannot be removed because of a comment in them.
fn without(document: &Document, fields: &[&str]) -> Option<String> {
    let header = document.handoff_header()?.fields();
    let there = fields.iter().filter(|field| header.get(field).is_some());
    let edits: Vec<Edit> = there.map(|field| Edit::Remove(HeaderPath::field(field))).collect();
    document.edit(&edits).ok().map(|(next, _)| next.text().to_owned())
}

/// Compares a text with an earlier one: only the handoff's identity and its history may differ.
#[track_caller]
fn assert_same_but_history(now: &str, earlier: &str) {
    let (now, earlier) = (Document::parse(now.as_bytes()), Document::parse(earlier.as_bytes()));
    let bare = |document| without(document, &["uid", "revisions"]);
    if let (Some(now), Some(earlier)) = (bare(&now), bare(&earlier)) {
        assert_eq!(now, earlier);
        return;
    }
    // If the history contains a comment, remove only the entries that were added.
    let count = |document: &Document| {
        let fields = document.handoff_header().unwrap().fields();
        fields.get("revisions").map_or(0, |node| node.items().len())
    };
    let added = (count(&earlier)..count(&now)).rev();
    let edits: Vec<Edit> =
        added.map(|index| Edit::Remove(HeaderPath::field("revisions").item(index))).collect();
    let (now, _) = now.edit(&edits).unwrap();
    let uid = |document: &Document| {
        let header = document.handoff_header().unwrap();
        header.text("uid").map(|uid| uid.value.trim().to_owned())
    };
    let given: &[&str] = if uid(&now) == uid(&earlier) { &[] } else { &["uid"] };
    assert_eq!(without(&now, given).unwrap(), without(&earlier, given).unwrap());
}

/// A handoff and what the test expects of it.
struct Watched {
    sandbox: Sandbox,
    store: Store,
    /// The number of the first text.
    first: usize,
    /// All texts so far, oldest first.
    texts: Vec<String>,
    /// The texts that an undo leads back to; the last one is the current text.
    standing: Vec<String>,
    /// Whether the file was edited since midstride last wrote it.
    outside: bool,
}

impl Watched {
    fn new(sandbox: Sandbox, text: String) -> Self {
        sandbox.write(".midstride/config.toml", "").write(FILE, &text);
        let store = open(sandbox.root());
        let first =
            store.workspace().find(FILE).unwrap().handoff(store.workspace()).replaced_texts().len()
                + 1;
        let (texts, standing) = (vec![text.clone()], vec![text]);
        Self { sandbox, store, first, texts, standing, outside: false }
    }

    fn shelved(&self) -> StoredHandoff {
        self.store.workspace().find(FILE).unwrap()
    }

    fn now(&self) -> String {
        self.sandbox.read(FILE)
    }

    /// Makes a change and compares the result with what is expected.
    fn does(&mut self, deed: &Deed) {
        if let Deed::Outside(touch) = deed {
            return self.is_edited_outside(*touch);
        }
        if let Deed::Undo = deed {
            return self.is_undone();
        }
        let before = self.now();
        match self.recorded(deed) {
            Some(revision) => {
                let now = self.now();
                self.texts.push(now.clone());
                self.standing.push(now);
                self.outside = false;
                assert_eq!(revision, self.first + self.texts.len() - 1);
            }
            None => assert_eq!(self.now(), before, "what is refused changes nothing"),
        }
        self.assert_texts(&[self.texts.len() / 2, self.texts.len() - 1]);
    }

    /// The number of the new revision; `None` if the verb does not apply.
    fn recorded(&self, deed: &Deed) -> Option<usize> {
        let (store, shelved) = (&self.store, self.shelved());
        let number = self.texts.len();
        match deed {
            Deed::Start => lived(store, &shelved, &lifecycle::start),
            Deed::Answer(wanted, text) => {
                lived(store, &shelved, &|h| lifecycle::answer(h, *wanted, text))
            }
            Deed::Validate(wanted, holds) => {
                lived(store, &shelved, &|h| lifecycle::validate(h, *wanted, *holds))
            }
            Deed::Resolve(ending) => lived(store, &shelved, &|h| {
                let measured = MeasuredValue {
                    name: "Austin".to_owned(),
                    before: Some("14290".to_owned()),
                    after: "108".to_owned(),
                    unit: None,
                };
                lifecycle::resolve(h, ending, &[measured], NOW.parse().unwrap())
            }),
            Deed::Review(verdict, text) => reviewed(store, &shelved, *verdict, *text),
            Deed::Body(text) => revised(store, &shelved, text, "a body"),
            Deed::Whole(touch, reason) => {
                let text = touch.apply(shelved.document.text(), number);
                revised(store, &shelved, &text, reason)
            }
            Deed::Late(index) => {
                let begun = index.get(&self.texts);
                let text = Touch::Paragraph.apply(begun, number);
                revised(store, &shelved, &text, "late")
            }
            Deed::Fmt => match fmt(store, &shelved, true) {
                Ok(FormatOutcome::Unchanged) | Err(FmtError::Refused { .. }) => None,
                Ok(FormatOutcome::Changed(_)) => {
                    Some(self.shelved().handoff(store.workspace()).replaced_texts().len() + 1)
                }
                Err(error) => refused(&error),
            },
            Deed::Undo | Deed::Outside(_) => None,
        }
    }

    fn is_edited_outside(&mut self, touch: Touch) {
        // Without its identity, midstride could not recognize the handoff.
        if matches!(touch, Touch::HistoryGone | Touch::UidGone) || self.texts.len() == 1 {
            return;
        }
        let before = self.now();
        let text = touch.apply(&before, self.texts.len());
        if text == before {
            return;
        }
        self.sandbox.write(FILE, &text);
        if self.outside {
            // The text in between was never seen.
            self.texts.pop();
            self.standing.pop();
        }
        // A reverted edit is not an edit.
        self.outside = self.texts.last() != Some(&text);
        if !self.outside {
            return;
        }
        self.texts.push(text.clone());
        self.standing.push(text);
    }

    fn is_undone(&mut self) {
        let undone = undo(&self.store, &self.shelved(), None);
        if self.standing.len() == 1 {
            // A history from elsewhere may name texts that are not stored here.
            let at_the_end = matches!(
                undone,
                Err(UndoError::Nothing(_)
                    | UndoError::Journal(JournalError::Revision(RevisionError::NotLocal { .. })))
            );
            assert!(at_the_end, "there is nothing to undo: {undone:?}");
            return;
        }
        let (recorded, _) = undone.unwrap_or_else(|error| panic!("{error}\n{}", self.now()));
        self.standing.pop();
        let now = self.now();
        assert_same_but_history(&now, self.standing.last().unwrap());
        self.texts.push(now);
        self.outside = false;
        assert_eq!(recorded.revision, self.first + self.texts.len() - 1);
        self.assert_texts(&[self.texts.len() / 3, self.texts.len() - 2]);
    }

    /// Asserts that each of these texts can be shown.
    fn assert_texts(&self, indices: &[usize]) {
        // An outside edit has no number until the next change.
        let known = self.texts.len() - usize::from(self.outside);
        let shelved = self.shelved();
        for index in indices.iter().filter(|index| **index < known) {
            if self.outside && index + 1 == known {
                continue;
            }
            let text = self.store.revision_text(&shelved, self.first + index).unwrap();
            assert_eq!(String::from_utf8(text).unwrap(), self.texts[*index]);
        }
    }
}

fn lived(
    store: &Store,
    shelved: &StoredHandoff,
    decide: &dyn Fn(&Handoff<'_>) -> Result<Vec<Edit>, LifecycleRefusal>,
) -> Option<usize> {
    match apply(store, shelved, decide, &because("lived")) {
        Ok(recorded) => Some(recorded.revision),
        Err(ApplyError::Refused { .. } | ApplyError::Journal(JournalError::Refused(_))) => None,
        Err(error) => refused(&error),
    }
}

fn reviewed(
    store: &Store,
    shelved: &StoredHandoff,
    verdict: ReviewVerdict,
    text: Option<&str>,
) -> Option<usize> {
    let dropped = (verdict == ReviewVerdict::Corrected).then(|| ReviewCorrection {
        tried: "Blaming the cache".to_owned(),
        why_wrong: Some("It is cold".to_owned()),
        replaced_by: None,
    });
    let text = text.filter(|_| verdict != ReviewVerdict::Held).map(str::to_owned);
    let challenged = "the code path".to_owned();
    let eve = ReviewRequest { by: "eve".to_owned(), challenged, verdict, dropped, text };
    match review(store, shelved, &eve) {
        Ok(reviewed) => Some(reviewed.recorded.revision),
        Err(
            ReviewError::Apply(ApplyError::Journal(JournalError::Refused(_)))
            | ReviewError::Revise(
                ReviseError::Empty(_)
                | ReviseError::Header { .. }
                | ReviseError::Journal(JournalError::Refused(_)),
            ),
        ) => None,
        Err(error) => refused(&error),
    }
}

fn revised(store: &Store, shelved: &StoredHandoff, text: &str, reason: &str) -> Option<usize> {
    match revise(store, shelved, text, &because(reason)) {
        Ok(ReviseOutcome::Unchanged)
        | Err(
            ReviseError::Empty(_)
            | ReviseError::Header { .. }
            | ReviseError::Journal(JournalError::Refused(_)),
        ) => None,
        Err(ReviseError::Conflict { kept, .. }) => {
            std::fs::remove_dir_all(kept.parent().unwrap()).unwrap();
            None
        }
        Ok(ReviseOutcome::Recorded(recorded)) => Some(recorded.revision),
        Err(error) => refused(&error),
    }
}

fn refused(error: &dyn std::error::Error) -> Option<usize> {
    panic!("nothing but the text itself may stand in the way: {error}")
}

fn all_of_it_is_undone(sandbox: Sandbox, text: String, deeds: &[Deed]) {
    let mut watched = Watched::new(sandbox, text);
    for deed in deeds {
        watched.does(deed);
    }
    while watched.standing.len() > 1 {
        watched.is_undone();
    }
    watched.is_undone();
    watched.assert_texts(&(0..watched.texts.len()).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(32), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_is_undone_in_a_repository(
        text in document(), deeds in prop::collection::vec(deed(), 4..12)
    ) {
        all_of_it_is_undone(Sandbox::new("").repository(), text, &deeds);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(8), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_is_undone_without_git(
        text in document(), deeds in prop::collection::vec(deed(), 4..16)
    ) {
        all_of_it_is_undone(Sandbox::new(""), text, &deeds);
    }
}

#[test]
fn a_comment_in_the_history_does_not_prevent_an_undo() {
    let text = "---\nhandoff:\n  id: a\n  revisions:\n    # by hand\n    - reason: typo # a small one\n---\n";
    all_of_it_is_undone(Sandbox::new(""), text.to_owned(), &[Deed::Start, Deed::Fmt]);
}

#[test]
fn an_outside_edit_is_undone_before_the_change_it_followed() {
    let text = "---\nhandoff:\n  id: a\n---\n\nText.\n";
    let deeds = [Deed::Start, Deed::Outside(Touch::Paragraph), Deed::Undo, Deed::Undo];
    all_of_it_is_undone(Sandbox::new(""), text.to_owned(), &deeds);
    all_of_it_is_undone(Sandbox::new("").repository(), text.to_owned(), &deeds);
}
