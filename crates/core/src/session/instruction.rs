//! Standing instructions: what the user said that limits all further work on a branch.
//!
//! They are the fold of their events, which clones may unite in any order. An instruction holds until
//! the user takes it back in a prompt or dismisses it; time and agents never close one.

use crate::session::intent::PromptPermissions;
use crate::session::{Request, Session};
use crate::work::event::{Envelope, Event, InstructionEvent};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The id of an instruction: the same for the same words in the same record, so that recording it
/// twice changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstructionId(String);

impl InstructionId {
    const DIGITS: usize = 32;
    const SHORT_DIGITS: usize = 6;

    /// The id of a sentence in a record of a session.
    pub fn from_record(session: &str, record: &str, text: &str) -> Self {
        let mut digest = Sha256::new();
        for part in [session, record, text] {
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
        let digits: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Self(digits[..Self::DIGITS].to_owned())
    }

    /// Reads an id.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let fits = text.len() == Self::DIGITS && text.bytes().all(fits);
        fits.then(|| Self(text.to_owned()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What people type: `i-3f09ac`.
    pub fn short(&self) -> String {
        format!("i-{}", &self.0[..Self::SHORT_DIGITS])
    }
}

impl fmt::Display for InstructionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

/// A standing instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its id.
    pub id: InstructionId,
    /// The user's sentence.
    pub text: String,
    /// The branch on which it holds; on every one where none was known.
    pub branch: Option<String>,
    /// The client in which it was given.
    pub client: String,
    /// The session in which it was given.
    pub session: String,
    /// The record of the prompt.
    pub record: String,
    /// Whether that prompt came from a script. Another script can take it back; what a user typed only a
    /// user takes back.
    pub headless: bool,
    /// When it was given.
    pub at: Timestamp,
    /// Whether it holds.
    pub state: InstructionState,
    /// Since when it does not.
    pub closed: Option<Timestamp>,
}

/// Whether an instruction holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionState {
    /// It does.
    Active,
    /// The user took it back in a prompt.
    Revoked,
    /// The user closed it with a command.
    Dismissed {
        /// Whether it never was an instruction.
        wrong: bool,
    },
}

/// All standing instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions(BTreeMap<InstructionId, Instruction>);

impl Instructions {
    /// The fold of their events, in whatever order and however often they come.
    pub fn fold<'e>(events: impl IntoIterator<Item = &'e Envelope>) -> Self {
        let mut given: BTreeMap<InstructionId, Instruction> = BTreeMap::new();
        let mut closed: BTreeMap<InstructionId, BTreeSet<(Timestamp, ClosingReason)>> =
            BTreeMap::new();
        for envelope in events {
            let Event::Instruction(event) = &envelope.event else { continue };
            let Some(id) = InstructionId::parse(event.id()) else { continue };
            match event {
                InstructionEvent::Given { .. } => add_given(&mut given, id, event, envelope.time),
                InstructionEvent::Revoked { .. } => {
                    closed.entry(id).or_default().insert((envelope.time, ClosingReason::Revoked));
                }
                InstructionEvent::Dismissed { wrong, .. } => {
                    let closing = ClosingReason::Dismissed { wrong: *wrong };
                    closed.entry(id).or_default().insert((envelope.time, closing));
                }
            }
        }
        Self::close(given, &closed)
    }

    /// An instruction that is closed takes the same words with it that were given before.
    fn close(
        mut given: BTreeMap<InstructionId, Instruction>,
        closed: &BTreeMap<InstructionId, BTreeSet<(Timestamp, ClosingReason)>>,
    ) -> Self {
        let closings: Vec<(Instruction, Timestamp, ClosingReason)> = closed
            .iter()
            .filter_map(|(id, closings)| Some((given.get(id)?, closings)))
            .flat_map(|(one, closings)| {
                let closed = |(at, closing): &(Timestamp, ClosingReason)| {
                    (one.clone(), (*at).max(one.at), *closing)
                };
                closings.iter().map(closed)
            })
            .collect();
        for instruction in given.values_mut() {
            let same = closings.iter().filter(|(one, at, closing)| {
                let is_same = one.branch == instruction.branch && one.text == instruction.text;
                is_same && *at >= instruction.at && closing.also_closes(one, instruction)
            });
            // The last one counts, and of two at once the greater.
            if let Some((_, at, closing)) = same.max_by_key(|(_, at, closing)| (*at, *closing)) {
                instruction.state = closing.state();
                instruction.closed = Some(*at);
            }
        }
        Self(given)
    }

    /// Every instruction, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Instruction> {
        self.0.values()
    }

    /// Whether some hold on other branches than this one only.
    pub fn has_elsewhere(&self, branch: &str) -> bool {
        let is_elsewhere = |one: &Instruction| one.branch.as_deref().is_some_and(|it| it != branch);
        self.iter().any(|one| one.state == InstructionState::Active && is_elsewhere(one))
    }

    /// The same with those that were given on a branch until it got another name: they follow it.
    #[must_use]
    pub fn with_renamed_branch(mut self, from: &str, to: &str, at: Timestamp) -> Self {
        for one in self.0.values_mut() {
            // Git counts seconds.
            let is_before = one.at.as_second() <= at.as_second();
            if is_before && one.branch.as_deref() == Some(from) {
                one.branch = Some(to.to_owned());
            }
        }
        self
    }

    /// Those that hold on a branch, the oldest first, each sentence once.
    pub fn active(&self, branch: Option<&str>) -> Vec<&Instruction> {
        let mut active: Vec<&Instruction> = self.active_on(branch).collect();
        active.sort_by(|one, other| (one.at, &one.id).cmp(&(other.at, &other.id)));
        let mut seen = BTreeSet::new();
        active.retain(|one| seen.insert(one.text.as_str()));
        active
    }

    fn active_on(&self, branch: Option<&str>) -> impl Iterator<Item = &Instruction> {
        self.iter()
            .filter(|one| one.state == InstructionState::Active)
            .filter(move |one| one.branch.is_none() || one.branch.as_deref() == branch)
    }

    /// The instructions that a handle names: the start of an id, with or without `i-`.
    pub fn find(&self, handle: &str) -> Vec<&Instruction> {
        let typed = handle.trim().to_lowercase();
        let digits = typed.strip_prefix("i-").unwrap_or(&typed);
        let fits = |one: &&Instruction| !digits.is_empty() && one.id.0.starts_with(digits);
        self.iter().filter(fits).collect()
    }

    /// What a session adds, with the time of each: instructions that its user gave, and those of
    /// theirs or of earlier sessions that they took back. What is known already is not repeated.
    pub fn events_from_session(
        &self,
        session: &Session,
        branch: Option<&str>,
    ) -> Vec<DatedInstructionEvent> {
        let Some(id) = session.id.as_deref() else { return Vec::new() };
        let abandoned = session.abandoned();
        let holding = self.active_on(branch);
        let mut holding: Vec<(InstructionId, String, bool)> =
            holding.map(|one| (one.id.clone(), one.text.clone(), one.headless)).collect();
        let mut told = Vec::new();
        for request in session.requests.iter().filter(|one| !abandoned.has(&one.seen)) {
            let is_later = |one: &InstructionId| {
                self.0.get(one).is_none_or(|known| request.seen.at.is_none_or(|at| at >= known.at))
            };
            let permissions = match holding.is_empty() {
                true => PromptPermissions::default(),
                false => PromptPermissions::parse(&request.text),
            };
            holding.retain(|(one, text, headless)| {
                let may_revoke = *headless || !request.headless;
                let is_revoked = may_revoke && is_later(one) && permissions.revoke(text);
                if is_revoked {
                    told.push(DatedInstructionEvent {
                        at: request.seen.at,
                        event: revoked_event(one, id, request),
                    });
                }
                !is_revoked
            });
            for text in &request.limits {
                let one = InstructionId::from_record(id, &request.seen.record, text);
                if self.0.contains_key(&one) {
                    continue;
                }
                // A session may go on to another branch. Clients write `HEAD` where there is none.
                let branch = request.branch.as_deref().or(branch).filter(|name| *name != "HEAD");
                let event = given_event(&one, text, branch, session, request);
                told.push(DatedInstructionEvent { at: request.seen.at, event });
                holding.push((one, text.clone(), request.headless));
            }
        }
        told
    }
}

/// Something about an instruction that a session tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatedInstructionEvent {
    /// When the prompt was written, where that is known.
    pub at: Option<Timestamp>,
    /// What happened.
    pub event: InstructionEvent,
}

/// How an instruction was closed, in the order in which one counts more than the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ClosingReason {
    Revoked,
    Dismissed { wrong: bool },
}

impl ClosingReason {
    /// Whether closing one closes another one with the same words: what a user typed stays when a script
    /// takes back what a script said.
    fn also_closes(self, one: &Instruction, other: &Instruction) -> bool {
        match self {
            Self::Revoked => other.headless || !one.headless,
            Self::Dismissed { .. } => true,
        }
    }

    fn state(self) -> InstructionState {
        match self {
            Self::Revoked => InstructionState::Revoked,
            Self::Dismissed { wrong } => InstructionState::Dismissed { wrong },
        }
    }
}

/// Adds what an event gives; of two with one id the earlier counts, whatever comes first.
fn add_given(
    all: &mut BTreeMap<InstructionId, Instruction>,
    id: InstructionId,
    event: &InstructionEvent,
    at: Timestamp,
) {
    let InstructionEvent::Given { text, branch, client, session, record, headless, .. } = event
    else {
        return;
    };
    let one = Instruction {
        id: id.clone(),
        text: text.clone(),
        branch: branch.clone(),
        client: client.clone(),
        session: session.clone(),
        record: record.clone(),
        headless: *headless,
        at,
        state: InstructionState::Active,
        closed: None,
    };
    let key =
        |one: &Instruction| (one.at, one.branch.clone(), one.client.clone(), one.text.clone());
    match all.get_mut(&id) {
        Some(known) if key(known) <= key(&one) => {}
        Some(known) => *known = one,
        None => _ = all.insert(id, one),
    }
}

fn given_event(
    id: &InstructionId,
    text: &str,
    branch: Option<&str>,
    session: &Session,
    request: &Request,
) -> InstructionEvent {
    InstructionEvent::Given {
        id: id.0.clone(),
        text: text.to_owned(),
        branch: branch.map(str::to_owned),
        client: session.client.name().to_owned(),
        session: session.id.clone().unwrap_or_default(),
        record: request.seen.record.clone(),
        headless: request.headless,
    }
}

fn revoked_event(id: &InstructionId, session: &str, request: &Request) -> InstructionEvent {
    InstructionEvent::Revoked {
        id: id.0.clone(),
        session: session.to_owned(),
        record: request.seen.record.clone(),
    }
}
