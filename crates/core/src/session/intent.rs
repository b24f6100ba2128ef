//! What a prompt is for: a correction, a limit for all further work, or no work of its own.
//!
//! Prompts are read sentence by sentence, in the user's own words only: code, quotes, logs and pasted
//! documents are skipped. Rules are tables of phrases, because hooks run them and because a person
//! can read why a prompt was taken for what it is. `fixtures/labels` measures them.

mod correcting;
mod limiting;
mod prose;
mod revoking;
mod trivial;

pub use correcting::asks_for_work;
pub use limiting::{LIMITS_MAX, PromptLimit, limits};
pub use revoking::{PromptPermissions, revokes};
pub use trivial::{Goal, find_goal, is_trivial};

use super::item::{Correction, Provenance, Request};

/// What came before a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromptContext<'a> {
    /// Whether it is the first of its session: there is nothing to correct yet.
    pub is_first: bool,
    /// Whether the user interrupted the agent or rejected a call right before it.
    pub stopped: Option<Correction>,
    /// The prompt before it.
    pub previous: Option<&'a str>,
}

/// Why a prompt is taken for a correction of what the agent did or is about to do, if it is.
pub fn correction(text: &str, context: PromptContext<'_>) -> Option<Correction> {
    if context.is_first && context.stopped.is_none() {
        return None;
    }
    correcting::correction(text, context)
}

/// A request with all that its text says about it. The text is clean.
pub(super) fn new_request(seen: Provenance, text: String, context: PromptContext<'_>) -> Request {
    let correction = correction(&text, context);
    let (limits, branch) = (Vec::new(), None);
    let mut request =
        Request { seen, correction, limits, branch, headless: false, trivial: false, text };
    classify_request(&mut request);
    request
}

/// Looks for what a request limits, and whether it names work.
pub(super) fn classify_request(request: &mut Request) {
    request.limits = limits(&request.text).into_iter().map(|limit| limit.text).collect();
    request.trivial = is_trivial(&request.text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_an_interrupt_corrects_only_if_it_says_something_new() {
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
    fn nothing_is_corrected_by_the_first_prompt() {
        let context = PromptContext { is_first: true, ..PromptContext::default() };
        assert_eq!(correction("no, that is wrong", context), None);
        assert_eq!(
            correction("no, that is wrong", PromptContext::default()),
            Some(Correction::Worded)
        );
    }

    #[test]
    fn what_a_product_does_is_no_limit() {
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
