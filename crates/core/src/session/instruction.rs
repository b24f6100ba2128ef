//! Standing instructions: prompts of the user that limit all further work on a branch.
//!
//! They are folded from events, which clones may merge in any order. An instruction holds until the
//! user revokes it in a prompt or dismisses it. Time and agents never close one.

use crate::session::intent::PromptPermissions;
use crate::session::{Request, Session};
use crate::text::id::SessionId;
use crate::work::event::{Envelope, Event, InstructionEvent};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The id of an instruction. The same text in the same record has the same id, so that recording it
/// twice changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstructionId(String);

impl InstructionId {
    const DIGITS: usize = 32;
    const SHORT_DIGITS: usize = 6;

    /// Computes the id of a sentence in a record of a session.
    pub fn from_record(session: &SessionId, record: &str, text: &str) -> Self {
        let mut digest = Sha256::new();
        for part in [session.as_str(), record, text] {
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
        let digits: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Self(digits[..Self::DIGITS].to_owned())
    }

    /// Parses an id.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let fits = text.len() == Self::DIGITS && text.bytes().all(fits);
        fits.then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The short id that users type: `i-3f09ac`.
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
    /// The branch on which it holds. None means every branch.
    pub branch: Option<String>,
    /// The client in which the user gave it.
    pub client: String,
    /// The session in which the user gave it.
    pub session: SessionId,
    /// The record of the prompt.
    pub record: String,
    /// Whether that prompt received from a script. A script can revoke it; only the user can revoke
    /// what the user typed.
    pub headless: bool,
    /// When the user gave it.
    pub at: Timestamp,
    /// Whether it holds.
    pub state: InstructionState,
    /// When it was closed.
    pub closed: Option<Timestamp>,
}

/// Whether an instruction holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionState {
    /// It holds.
    Active,
    /// The user revoked it in a prompt.
    Revoked,
    /// The user dismissed it with a command.
    Dismissed {
        /// Whether it was never meant as an instruction.
        wrong: bool,
    },
}

/// All standing instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions(BTreeMap<InstructionId, Instruction>);

impl Instructions {
    /// Folds events. Their order and repeated events make no difference.
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

    /// Closing an instruction also closes earlier ones with the same text.
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
            // The latest closing wins; of two at the same time, the greater reason.
            if let Some((_, at, closing)) = same.max_by_key(|(_, at, closing)| (*at, *closing)) {
                instruction.state = closing.state();
                instruction.closed = Some(*at);
            }
        }
        Self(given)
    }

    /// Iterates over all instructions, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Instruction> {
        self.0.values()
    }

    /// Whether some instructions hold only on other branches than this one.
    pub fn has_elsewhere(&self, branch: &str) -> bool {
        let is_elsewhere = |one: &Instruction| one.branch.as_deref().is_some_and(|it| it != branch);
        self.iter().any(|one| one.state == InstructionState::Active && is_elsewhere(one))
    }

    /// Moves instructions given before a branch was renamed to its new name.
    #[must_use]
    pub fn with_renamed_branch(mut self, from: &str, to: &str, at: Timestamp) -> Self {
        for one in self.0.values_mut() {
            // Git stores seconds.
            let is_before = one.at.as_second() <= at.as_second();
            if is_before && one.branch.as_deref() == Some(from) {
                one.branch = Some(to.to_owned());
            }
        }
        self
    }

    /// The instructions that hold on a branch, oldest first, each sentence once.
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

    /// The instructions that match a handle: the start of an id, with or without `i-`.
    pub fn find(&self, handle: &str) -> Vec<&Instruction> {
        let typed = handle.trim().to_lowercase();
        let digits = typed.strip_prefix("i-").unwrap_or(&typed);
        let fits = |one: &&Instruction| !digits.is_empty() && one.id.0.starts_with(digits);
        self.iter().filter(fits).collect()
    }

    /// The events that a session adds, with their times: instructions that its user gave, and
    /// instructions of this or earlier sessions that they revoked. Known events are not repeated.
    pub fn events_from_session(
        &self,
        session: &Session,
        branch: Option<&str>,
    ) -> Vec<DatedInstructionEvent> {
        let Some(id) = session.id.as_ref() else { return Vec::new() };
        let abandoned = session.abandoned();
        let holding = self.active_on(branch);
        let mut holding: Vec<(InstructionId, String, bool)> =
            holding.map(|one| (one.id.clone(), one.text.clone(), one.headless)).collect();
        let mut found = Vec::new();
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
                    found.push(DatedInstructionEvent {
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
                // A session may switch branches. Clients write `HEAD` when no branch is checked
                // out.
                let branch = request.branch.as_deref().or(branch).filter(|name| *name != "HEAD");
                let event = given_event(&one, text, branch, session, request);
                found.push(DatedInstructionEvent { at: request.seen.at, event });
                holding.push((one, text.clone(), request.headless));
            }
        }
        found
    }
}

/// An instruction event found in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatedInstructionEvent {
    /// When the prompt was written, if known.
    pub at: Option<Timestamp>,
    /// The event.
    pub event: InstructionEvent,
}

/// How an instruction was closed, in ascending order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ClosingReason {
    Revoked,
    Dismissed { wrong: bool },
}

impl ClosingReason {
    /// Whether closing one instruction closes another with the same text. When a script revokes a
    /// script's instruction, the one that a user typed stays.
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

/// Adds the instruction of an event. Of two with the same id, the earlier one wins.
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
        client: session.client.to_string(),
        session: session.id.clone().unwrap_or_else(|| SessionId::new("")),
        record: request.seen.record.clone(),
        headless: request.headless,
    }
}

fn revoked_event(id: &InstructionId, session: &SessionId, request: &Request) -> InstructionEvent {
    InstructionEvent::Revoked {
        id: id.0.clone(),
        session: session.clone(),
        record: request.seen.record.clone(),
    }
}
