//! Who started this process: the user, or a program that acts on its own.

use super::Environment;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Who started this process.
#[derive(Clone, Debug)]
pub enum Invoker {
    /// As the variables and the ancestors of this process show.
    Process(InvokerLookup),
    /// The user, who agrees to every question: for tests, and for a temporary folder that this
    /// process made.
    User,
    /// This program.
    Automation(Automation),
}

/// A program that runs commands on its own, so that the user cannot confirm anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Automation {
    /// An agent.
    Agent {
        /// The name that is recorded for what it does.
        name: String,
        /// The name of the product, for messages.
        title: String,
    },
    /// A proof command of a handoff.
    Proof,
}

/// Finds out whether an agent or a proof started this process.
pub(crate) type DetectAutomation = fn(&Environment) -> Option<Automation>;

/// Looks for the caller once, when it is needed: hooks and commands that only read do not pay for it.
#[derive(Clone, Debug)]
pub struct InvokerLookup {
    detect: DetectAutomation,
    found: Arc<OnceLock<Option<Automation>>>,
}

impl Invoker {
    /// The caller of this process.
    pub(crate) fn process(detect: DetectAutomation) -> Self {
        Self::Process(InvokerLookup { detect, found: Arc::default() })
    }

    pub(super) fn automation(&self, environment: &Environment) -> Option<Automation> {
        match self {
            Self::Process(lookup) => {
                lookup.found.get_or_init(|| (lookup.detect)(environment)).clone()
            }
            Self::User => None,
            Self::Automation(automation) => Some(automation.clone()),
        }
    }
}

impl Automation {
    /// An agent with the name that is recorded for it and the name of its product.
    pub fn agent(name: impl Into<String>, title: impl Into<String>) -> Self {
        Self::Agent { name: name.into(), title: title.into() }
    }

    /// The name that is recorded for what it does.
    pub fn name(&self) -> &str {
        match self {
            Self::Agent { name, .. } => name,
            Self::Proof => "proof",
        }
    }

    /// Whether it is an agent.
    pub fn is_agent(&self) -> bool {
        matches!(self, Self::Agent { .. })
    }
}

impl fmt::Display for Automation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent { title, .. } => title,
            Self::Proof => "a proof",
        })
    }
}
