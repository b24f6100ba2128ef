//! Classifies prompts: corrections, limits on all further work, and prompts that name no work.
//!
//! Prompts are read sentence by sentence, in the user's own words only: code, quotes, logs and
//! pasted documents are skipped. The rules are tables of phrases, because hooks run them and
//! because a reader can see why a prompt was classified as it was. `fixtures/labels` measures them.

mod correcting;
mod limiting;
mod prose;
mod revoking;
mod trivial;

pub(crate) use correcting::asks_for_work;
pub use limiting::{PromptLimit, limits};
pub(crate) use revoking::PromptPermissions;
pub(crate) use trivial::find_goal;
pub use trivial::{Goal, is_trivial};

use super::item::{Correction, Provenance, Request};

/// What came before a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromptContext<'a> {
    /// Whether it is the first prompt of its session: there is nothing to correct yet.
    pub is_first: bool,
    /// Whether the user interrupted the agent or rejected a call right before it.
    pub stopped: Option<Correction>,
    /// The prompt before it.
    pub previous: Option<&'a str>,
}

/// Why a prompt counts as a correction of what the agent did or is about to do, if it does.
pub fn correction(text: &str, context: PromptContext<'_>) -> Option<Correction> {
    if context.is_first && context.stopped.is_none() {
        return None;
    }
    correcting::correction(text, context)
}

/// The start of the briefing that `midstride continue` passes behind the user's request.
const BRIEFING: &str = "\n\nmidstride briefing · to continue";

/// A prompt without the briefing behind it, whose words are not the user's.
fn without_briefing(mut text: String) -> String {
    if let Some(at) = text.find(BRIEFING) {
        text.truncate(at);
    }
    text
}

/// Creates a request and classifies its text, which must be redacted already.
pub(super) fn new_request(seen: Provenance, text: String, context: PromptContext<'_>) -> Request {
    let text = without_briefing(text);
    let correction = correction(&text, context);
    let (limits, branch) = (Vec::new(), None);
    let mut request =
        Request { seen, correction, limits, branch, headless: false, trivial: false, text };
    classify_request(&mut request);
    request
}

/// Finds the limits in a request, and whether it names work.
pub(super) fn classify_request(request: &mut Request) {
    request.limits = limits(&request.text).into_iter().map(|limit| limit.text).collect();
    request.trivial = is_trivial(&request.text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_briefing_behind_a_request_is_not_the_users_word() {
        let prompt = "Continue this work: Cache it\n\nmidstride briefing · to continue · 9 tokens\nNever push.";
        assert_eq!(without_briefing(prompt.to_owned()), "Continue this work: Cache it");
        let pasted = "Why does it say\nmidstride briefing · to continue?";
        assert_eq!(without_briefing(pasted.to_owned()), pasted);
    }

    #[test]
    fn a_prompt_after_an_interrupt_corrects_only_if_it_says_something_new() {
        let check = |text: &str, previous: Option<&str>, expected: bool| {
            let stopped = Some(Correction::AfterInterrupt);
            let found = correction(text, PromptContext { is_first: false, stopped, previous });
            assert_eq!(found.is_some(), expected, "{text}");
        };
        check("use the second endpoint", None, true);
        check("continue", None, false);
        check("/compact", None, false);
        check("what does this return?", None, false);
        check("rename the flag to --dry, please", Some("rename the flag to --dry"), false);
        check("rename the flag to --dry", Some("add a test"), true);
    }

    #[test]
    fn the_first_prompt_is_never_a_correction() {
        let context = PromptContext { is_first: true, ..PromptContext::default() };
        assert_eq!(correction("no, that is wrong", context), None);
        assert_eq!(
            correction("no, that is wrong", PromptContext::default()),
            Some(Correction::Worded)
        );
    }

    #[test]
    fn product_requirements_are_not_limits() {
        for text in [
            "Never cache these responses.",
            "Always redirect to the login page.",
            "Every new user should see the tour.",
            "Ask before overwriting a file.",
            "only change the label in src/form.rs",
            "don't use recursion here",
            "whenever you click save it crashes",
            "don't change it",
            "No changes to report.",
            "commits should be sorted by date",
            "You may push to main without asking from now on.",
        ] {
            assert_eq!(limits(text), [], "{text}");
        }
    }
}
