//! The user's consent: no agent runs the command, and the user answers at the terminal.

use crate::sys::env::{Automation, Environment, Invoker};
use crate::sys::process;
use crate::sys::terminal::Terminal;
use std::io;

/// The user agreed. Verbs that only the user may decide require it, and nothing else creates it.
#[derive(Debug)]
pub struct UserConsent {
    _created_here: (),
}

/// A question to the user.
#[derive(Clone, Copy, Debug)]
pub struct ConsentQuestion<'q> {
    /// The question, without control characters.
    pub text: &'q str,
    /// What the user has to type to agree; yes or no if there is none.
    pub word: Option<&'q str>,
    /// Whether an option answers it. That needs a terminal as well.
    pub is_answered: bool,
}

/// Why the user could not be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsentError {
    /// An agent or a proof runs the command.
    #[error("this command requires the user, but it is running inside {0}")]
    RequiresUser(Automation),
    /// The processes that started the command are hidden.
    #[error("cannot check which process started this command: /proc is not readable")]
    HiddenProcesses,
    /// The process has no terminal.
    #[error("cannot prompt: no terminal")]
    NoTerminal,
    /// The terminal failed.
    #[error("cannot prompt: {0}")]
    Terminal(io::Error),
}

impl UserConsent {
    /// Fails if the user cannot be asked, before anything is shown.
    pub fn check(environment: &Environment) -> Result<(), ConsentError> {
        Self::by_presence(environment).map(drop)
    }

    /// The consent of a user who typed the command at a terminal, for what needs no question.
    pub fn by_presence(environment: &Environment) -> Result<Self, ConsentError> {
        open_terminal(environment).map(|_| Self { _created_here: () })
    }

    /// Asks the user at the terminal. `None` if they decline.
    pub fn ask(
        environment: &Environment,
        question: ConsentQuestion<'_>,
    ) -> Result<Option<Self>, ConsentError> {
        let terminal = open_terminal(environment)?;
        let agrees = terminal.map_or(Ok(true), |terminal| question.ask(terminal));
        let agrees = agrees.map_err(ConsentError::Terminal)?;
        Ok(agrees.then_some(Self { _created_here: () }))
    }
}

/// A question with several answers, each a letter.
#[derive(Clone, Copy, Debug)]
pub struct ConsentChoice<'q> {
    /// The question, without control characters.
    pub text: &'q str,
    /// The answers with which the user agrees. The first one is the default.
    pub agreeing: &'q [char],
    /// The other answers. Anything else counts as the last one.
    pub others: &'q [char],
    /// The answer that an option gives. That needs a terminal as well.
    pub answer: Option<char>,
}

impl UserConsent {
    /// Asks the user at the terminal to choose. The consent is `None` unless the answer agrees.
    pub fn choose(
        environment: &Environment,
        choice: ConsentChoice<'_>,
    ) -> Result<(char, Option<Self>), ConsentError> {
        let terminal = open_terminal(environment)?;
        let default = choice.agreeing[0];
        let letter = terminal.map_or(Ok(default), |terminal| choice.ask(terminal));
        let letter = letter.map_err(ConsentError::Terminal)?;
        let consent = choice.agreeing.contains(&letter).then_some(Self { _created_here: () });
        Ok((letter, consent))
    }
}

impl ConsentChoice<'_> {
    fn ask(&self, mut terminal: Terminal) -> io::Result<char> {
        if let Some(letter) = self.answer {
            terminal.show(&format!("{} {letter} (--yes)", self.text))?;
            return Ok(letter);
        }
        let typed = terminal.ask(self.text)?.to_lowercase();
        let is_typed = |letter: &&char| typed.starts_with(**letter);
        Ok(match self.agreeing.iter().chain(self.others).find(is_typed) {
            Some(letter) => *letter,
            None if typed.is_empty() => self.agreeing[0],
            None => *self.others.last().unwrap_or(&self.agreeing[0]),
        })
    }
}

impl ConsentQuestion<'_> {
    fn ask(&self, mut terminal: Terminal) -> io::Result<bool> {
        let shown = match self.word {
            Some(_) => self.text.to_owned(),
            None => format!("{} [y/N]", self.text),
        };
        if self.is_answered {
            terminal.show(&format!("{shown} {} (--yes)", self.word.unwrap_or("y")))?;
            return Ok(true);
        }
        let typed = terminal.ask(&shown)?;
        Ok(match self.word {
            Some(word) => typed == word,
            None => matches!(typed.to_lowercase().as_str(), "y" | "yes"),
        })
    }
}

/// The terminal of the user; `None` if the caller is one that agrees without it.
fn open_terminal(environment: &Environment) -> Result<Option<Terminal>, ConsentError> {
    if let Some(automation) = environment.automation() {
        return Err(ConsentError::RequiresUser(automation));
    }
    match environment.invoker {
        Invoker::User => Ok(None),
        Invoker::Process(_) if !process::are_ancestors_known() => {
            Err(ConsentError::HiddenProcesses)
        }
        Invoker::Process(_) | Invoker::Automation(_) => {
            Terminal::open().map(Some).map_err(|_| ConsentError::NoTerminal)
        }
    }
}
