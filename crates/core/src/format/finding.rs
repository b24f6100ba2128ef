//! A finding: one problem that is reported, with its code, its place and a way out.

mod codes;

pub use codes::{Code, Rule};

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
    pub way_out: Option<WayOut>,
}

/// How to get out of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WayOut {
    /// Something a person or an agent has to think about.
    Think(String),
    /// A command to run, word by word.
    Run(Vec<String>),
    /// A change that needs no thought; `check --fix` makes it.
    Write(Edit),
}

impl Finding {
    /// A finding without a way out of its own; the code's explanation has a general one.
    pub fn new(code: Code, at: Span, message: impl Into<String>) -> Self {
        Self { code, at, message: message.into(), way_out: None }
    }

    /// The same finding with advice.
    #[must_use]
    pub fn think(mut self, advice: impl Into<String>) -> Self {
        self.way_out = Some(WayOut::Think(advice.into()));
        self
    }

    /// The same finding with a command that helps.
    #[must_use]
    pub fn run<'w>(mut self, words: impl IntoIterator<Item = &'w str>) -> Self {
        let words = words.into_iter().map(str::to_owned).collect();
        self.way_out = Some(WayOut::Run(words));
        self
    }

    /// The same finding with a mechanical fix.
    #[must_use]
    pub fn fix(mut self, edit: Edit) -> Self {
        self.way_out = Some(WayOut::Write(edit));
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
