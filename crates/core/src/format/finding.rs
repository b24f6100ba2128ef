//! A finding: one problem that is reported, with its code, its place and a way out.

mod codes;

pub use codes::{Code, FindingRule};

use crate::text::edit::Edit;
use crate::text::span::Span;
use std::fmt;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a thought; never fails a check by itself.
    Advice,
    /// Wrong for most readers.
    Warning,
    /// The document cannot be relied on.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Advice => "advice",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One problem in one document. Severity and explanation belong to its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which rule.
    pub code: Code,
    /// Where, in bytes of the whole file.
    pub at: Span,
    /// What is wrong, as a sentence without its full stop.
    pub message: String,
    /// How to get out of it.
    pub fix: Option<FindingFix>,
}

/// How to get out of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingFix {
    /// Something a person or an agent has to think about.
    Hint(String),
    /// A command to run, word by word.
    Command(Vec<String>),
    /// A change that needs no thought; `check --fix` makes it.
    Edit(Edit),
}

impl Finding {
    /// A finding without a way out of its own; the code's explanation has a general one.
    pub fn new(code: Code, at: Span, message: impl Into<String>) -> Self {
        Self { code, at, message: message.into(), fix: None }
    }

    /// The same finding with advice.
    #[must_use]
    pub fn with_hint(mut self, advice: impl Into<String>) -> Self {
        self.fix = Some(FindingFix::Hint(advice.into()));
        self
    }

    /// The same finding with a command that helps.
    #[must_use]
    pub fn with_command<'w>(mut self, words: impl IntoIterator<Item = &'w str>) -> Self {
        let words = words.into_iter().map(str::to_owned).collect();
        self.fix = Some(FindingFix::Command(words));
        self
    }

    /// The same finding with a mechanical fix.
    #[must_use]
    pub fn with_edit(mut self, edit: Edit) -> Self {
        self.fix = Some(FindingFix::Edit(edit));
        self
    }

    /// How much it weighs.
    pub fn severity(&self) -> Severity {
        self.code.rule().severity
    }

    /// Whether the next stage has to wait for it: an error, an open blocking question, or an
    /// assumption that is known to be false.
    pub fn blocks(&self) -> bool {
        self.severity() == Severity::Error
            || matches!(self.code, Code::BlockingQuestion | Code::AssumptionDisproved)
    }
}
