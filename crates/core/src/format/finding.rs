//! A finding: one problem in a document, with its code, span and fix.

mod codes;

pub use codes::{Code, FindingRule};

use crate::text::edit::Edit;
use crate::text::span::Span;
use std::fmt;

/// How severe a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A suggestion. It does not fail a check.
    Hint,
    /// Likely a mistake.
    Warning,
    /// The document is not reliable.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hint => "hint",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One problem in one document. Its code defines the severity and the explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The code of the violated rule.
    pub code: Code,
    /// The span in the whole file.
    pub at: Span,
    /// The message, as a sentence without its period.
    pub message: String,
    /// How to fix it.
    pub fix: Option<FindingFix>,
}

/// How to fix a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingFix {
    /// What the user or the agent can do, in words.
    Hint(String),
    /// A command to run, as separate words.
    Command(Vec<String>),
    /// A mechanical change that `check --fix` applies.
    Edit(Edit),
}

impl Finding {
    /// Creates a finding without a specific fix. The rule of its code has a general one.
    pub fn new(code: Code, at: Span, message: impl Into<String>) -> Self {
        Self { code, at, message: message.into(), fix: None }
    }

    /// Adds a hint.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.fix = Some(FindingFix::Hint(hint.into()));
        self
    }

    /// Adds a command that fixes the problem.
    #[must_use]
    pub fn with_command<'w>(mut self, words: impl IntoIterator<Item = &'w str>) -> Self {
        let words = words.into_iter().map(str::to_owned).collect();
        self.fix = Some(FindingFix::Command(words));
        self
    }

    /// Adds a mechanical fix.
    #[must_use]
    pub(crate) fn with_edit(mut self, edit: Edit) -> Self {
        self.fix = Some(FindingFix::Edit(edit));
        self
    }

    /// The severity of its rule.
    pub fn severity(&self) -> Severity {
        self.code.rule().severity
    }

    /// Whether it blocks the next stage: an error, an open blocking question, or a disproved
    /// assumption.
    pub fn blocks(&self) -> bool {
        self.severity() == Severity::Error
            || matches!(self.code, Code::BlockingQuestion | Code::AssumptionDisproved)
    }
}
