//! Tell a session what it has to know: of open handoffs, of the session before it, of the tasks and
//! of the mission. Where a client waits no process is started, and nothing is judged anew.

mod concurrent;
pub(in crate::verbs) mod dismiss;
pub(in crate::verbs) mod hook;
mod ledger_facts;
pub(in crate::verbs) mod search_sessions;
mod upstream;

pub use ledger_facts::{agents_in_flight, open_session_items};
pub(in crate::verbs) use ledger_facts::{summary_of_session, visit_latest_summaries};

use crate::code::drift::cached_results;
use crate::store::index::{
    Effort, HandoffRouting, Index, IndexCard, IndexError, IndexProgress, OpenHandoffs,
    RefreshLimit, scan_open,
};
use crate::store::ledger::{Ledger as _, LedgerError, SqliteLedger, StreamId, WaitPolicy};
use crate::sys::files::FileError;
use crate::sys::git::Repository;
use crate::sys::ids::sha256;
use crate::verbs::handoff::deliveries::{DeliveryError, delivered_handoff, session_envelope};
use crate::verbs::handoff::search::with_index;
use crate::verbs::task::content_id;
use crate::workspace::note_dates::NoteDates;
use crate::workspace::observation::last_observation;
use crate::workspace::project::{DocumentPlace, Project, SetupMode, StoredHandoff};
use crate::workspace::settings::SessionName;
use concurrent::collect_concurrent_session_items;
use jiff::Timestamp;
use ledger_facts::LedgerFacts;
use midstride_core::brief::hook::{items_missing_from_text, required_in_summary};
use midstride_core::brief::items::{
    self, DriftedPlace, KnownHandoff, ProofTrial, earlier_commit_items, earlier_session_items,
    handoff_items, headline, interleave, later_commits_item, mark_branch, mark_clean,
    other_handoff_items, other_session_items, session_items, source_name, unsettled_items,
    work_tree_items,
};
use midstride_core::brief::{
    BriefItem, BriefOccasion, Briefing, Budget, ItemForm, ItemRank, Material, SourcedStartupStep,
    StartupStep, compose,
};
use midstride_core::format::header::StartupKind;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::anchor;
use midstride_core::handoff::drift::{CitationCheck, CitationStatus};
use midstride_core::session::checkpoint::SessionSummary;
use midstride_core::session::quality::passes_quality_check;
use midstride_core::session::{Client, short_id};
use midstride_core::work::event::{DeliveredHandoff, Envelope, Event, ProofEvent, SessionEvent};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// The tokens that a briefing may cost.
pub const BUDGET: RangeInclusive<u64> = 200..=20_000;
/// So many where nobody said, and no client asks.
const DEFAULT_TOKENS: u64 = 2_000;
/// A handoff is told in about so many tokens; what there is no room for is not read.
const TOKENS_PER_HANDOFF: u64 = 250;
const HANDOFF_COUNT_RANGE: RangeInclusive<u64> = 3..=80;
/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct BriefRequest {
    /// When, as the client tells; a client that tells waits for the answer.
    pub occasion: Option<BriefOccasion>,
    /// The client that is told.
    pub client: Option<Client>,
    /// The role of whoever is told.
    pub role: Option<String>,
    /// The session that is told, which gets a receipt.
    pub session: Option<SessionName>,
    /// How many tokens it may cost.
    pub tokens: Option<u64>,
    /// The ranks that are told, where it is not all of them.
    pub only: Option<&'static [ItemRank]>,
    /// Whether the session that goes on has its context still: it knows what it did, and what it was
    /// told. It is told what is new.
    pub has_context: bool,
    /// When such a session was last at work, as far as that was written down: what others did since
    /// is new to it.
    pub since: Option<Timestamp>,
    /// How much of the index may be built for it; no limit where a person waits.
    pub limit: RefreshLimit,
    /// What the user asks for, where a prompt is answered.
    pub prompt: Option<String>,
    /// A page that the session has in its context: what others did is not told again.
    pub in_context: Option<String>,
}

/// What a session is told, and what of.
#[derive(Debug)]
pub struct BriefOutcome {
    /// What it is told.
    pub briefing: Briefing,
    /// The handoffs that it is told of.
    pub handoffs: Vec<DeliveredHandoff>,
    /// How many are open.
    pub open: usize,
    /// How far the index is, if handoffs were not read yet: the briefing is of the newest.
    pub indexing: Option<IndexProgress>,
    /// Whether the index waits to be finished.
    pub is_index_incomplete: bool,
    /// The session that it is told of.
    pub predecessor: Option<SessionSummary>,
    /// What became of the receipt; none where nobody is named, or nothing was said.
    pub delivery: Option<Result<Delivery, DeliveryError>>,
    /// Why the ledger could not be asked.
    pub ledger_error: Option<LedgerError>,
    /// What could not be read.
    pub unread: Vec<FileError>,
}

/// What became of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It was written.
    New,
    /// The session was told exactly this before.
    Known,
    /// The ledger was busy; the next command writes it.
    Queued,
}

/// Tells a session what it has to know. Whoever waits for an index to be made is told how far it is.
pub fn brief(
    project: &Project,
    asked: &BriefRequest,
    progress: &mut dyn FnMut(usize, usize),
) -> BriefOutcome {
    brief_with(project, asked, |wanted| RankedHandoffs::find(project, asked, wanted, progress))
}

/// The same without an index, for who must not write one.
pub(in crate::verbs) fn brief_without_index(
    project: &Project,
    asked: &BriefRequest,
) -> BriefOutcome {
    brief_with(project, asked, |wanted| RankedHandoffs::from_files(project, asked, wanted))
}

fn brief_with(
    project: &Project,
    asked: &BriefRequest,
    find: impl FnOnce(&Selection<'_>) -> RankedHandoffs,
) -> BriefOutcome {
    let tokens = token_budget(asked);
    let (work, trouble) = match LedgerFacts::read(project, asked) {
        Ok(work) => (work, None),
        Err(trouble) => (LedgerFacts::default(), Some(trouble)),
    };
    let told = (tokens / TOKENS_PER_HANDOFF)
        .clamp(*HANDOFF_COUNT_RANGE.start(), *HANDOFF_COUNT_RANGE.end());
    let wanted = Selection {
        role: asked.role.as_deref(),
        branch: project.repository().and_then(Repository::branch),
        session: work.summary.as_ref().map(|gist| gist.session.clone()),
        limit: usize::try_from(told).unwrap_or(usize::MAX),
        known: SessionKnowledge::from_request(asked, &work),
        may_ask_git: asked.occasion.is_none(),
    };
    let mut open = find(&wanted);
    let mut page = compose_page(project, asked, &wanted, &open, &work);
    // Short handoffs leave room for more of them.
    if !open.rest.is_empty() && page.tokens * 10 < tokens * FILL_TENTHS_MIN {
        open.read_more(project, &wanted, wanted.limit * EXTRA_HANDOFFS_FACTOR);
        page = self::compose_page(project, asked, &wanted, &open, &work);
    }
    BriefOutcome { ledger_error: trouble, ..deliver_page(project, asked, page, open, work) }
}

/// A page that uses less than so many tenths of its budget has room for more handoffs: so many times as
/// many as it has.
const FILL_TENTHS_MIN: u64 = 7;
const EXTRA_HANDOFFS_FACTOR: usize = 3;

/// Tells a session of these handoffs and of nothing else.
pub(in crate::verbs) fn brief_handoffs(
    project: &Project,
    asked: &BriefRequest,
    handoffs: Vec<StoredHandoff>,
) -> BriefOutcome {
    let wanted = Selection {
        role: None,
        branch: project.repository().and_then(Repository::branch),
        session: None,
        limit: handoffs.len(),
        known: None,
        may_ask_git: false,
    };
    let opened = |shelved| {
        let card = IndexCard::from_document(project, &shelved);
        RankedHandoff { is_dated: card.changed.is_some(), card, citations: None, stored: shelved }
    };
    let best: Vec<RankedHandoff> = handoffs.into_iter().map(opened).collect();
    let open = RankedHandoffs { count: best.len(), best, ..RankedHandoffs::default() };
    let (ledger, trouble) = match SqliteLedger::open_existing(project, wait_policy(asked)) {
        Ok(ledger) => (ledger, None),
        Err(trouble) => (None, Some(trouble)),
    };
    let work = LedgerFacts { ledger, ..LedgerFacts::default() };
    let page = compose_page(project, asked, &wanted, &open, &work);
    BriefOutcome { ledger_error: trouble, ..deliver_page(project, asked, page, open, work) }
}

/// Whether a prompt proposes what a handoff rejected.
pub(in crate::verbs) fn is_rejected(
    project: &Project,
    prompt: &str,
    shelved: &StoredHandoff,
) -> bool {
    let known = KnownHandoff {
        handoff: shelved.handoff(project),
        path: clean_path(project, shelved),
        file_changed: None,
        prompt: Some(items::PromptWords::from_prompt(prompt)),
        trials: Vec::new(),
        drifted_places: Vec::new(),
        checked_at: None,
    };
    handoff_items(&known).1.iter().any(|point| point.heading == items::REJECTED)
}

/// Tells a session again what it did itself.
pub(in crate::verbs) fn brief_own_work(
    project: &Project,
    asked: &BriefRequest,
    gist: &SessionSummary,
) -> Briefing {
    let wanted = Selection {
        role: None,
        branch: project.repository().and_then(Repository::branch),
        session: None,
        limit: 0,
        known: None,
        may_ask_git: false,
    };
    let work = LedgerFacts { summary: Some(gist.clone()), is_own: true, ..LedgerFacts::default() };
    let open = RankedHandoffs::default();
    let material = collect_material(project, asked, &wanted, &open, &work);
    compose(&material, Budget::for_client(token_budget(asked), asked.client))
}

/// The handoffs that a session was told of.
pub(in crate::verbs) fn delivered_handoffs(
    ledger: &SqliteLedger,
    session: &SessionName,
) -> Result<Vec<DeliveredHandoff>, LedgerError> {
    let records = ledger.read(&StreamId::deliveries(&session.client, &session.id), None)?;
    let events = records.into_iter().flat_map(|record| record.events);
    let told = events.filter_map(|envelope| match envelope.event {
        Event::Session(SessionEvent::Briefed { handoffs, .. }) => Some(handoffs),
        Event::Session(
            SessionEvent::Checkpointed { .. }
            | SessionEvent::Dismissed { .. }
            | SessionEvent::Acknowledged { .. },
        )
        | Event::Handoff(_)
        | Event::Proof(_)
        | Event::Mission(_)
        | Event::Task(_)
        | Event::Text(_)
        | Event::Workflow(_)
        | Event::Instruction(_)
        | Event::Unknown(_) => None,
    });
    Ok(told.flatten().collect())
}

fn token_budget(asked: &BriefRequest) -> u64 {
    let usual = || asked.occasion.map_or(DEFAULT_TOKENS, BriefOccasion::tokens_max);
    asked.tokens.unwrap_or_else(usual)
}

/// What is told of all that was found.
fn compose_page(
    project: &Project,
    asked: &BriefRequest,
    wanted: &Selection<'_>,
    open: &RankedHandoffs,
    work: &LedgerFacts,
) -> Briefing {
    let material = collect_material(project, asked, wanted, open, work);
    compose(&material, Budget::for_client(token_budget(asked), asked.client))
}

/// A page with its receipt.
fn deliver_page(
    project: &Project,
    asked: &BriefRequest,
    briefing: Briefing,
    open: RankedHandoffs,
    work: LedgerFacts,
) -> BriefOutcome {
    let is_told = |shelved: &&StoredHandoff| {
        let source = source_name(&shelved.handoff(project), &clean_path(project, shelved));
        briefing.included.iter().any(|told| told.source == source)
    };
    let told = open.best.iter().map(|one| &one.stored).filter(is_told);
    let handoffs: Vec<DeliveredHandoff> =
        told.map(|shelved| delivered_handoff(project, shelved)).collect();
    let mut briefed = BriefOutcome {
        briefing,
        handoffs,
        open: open.count,
        indexing: open.indexing,
        is_index_incomplete: open.is_index_incomplete,
        predecessor: work.summary,
        delivery: None,
        ledger_error: None,
        unread: open.unread,
    };
    briefed.delivery = deliver(project, asked, &briefed, work.ledger);
    briefed
}

/// A client that tells when it asks does not wait for others.
fn wait_policy(asked: &BriefRequest) -> WaitPolicy {
    if asked.occasion.is_some() { WaitPolicy::Hook } else { WaitPolicy::Command }
}

/// Which open handoffs come first.
struct Selection<'a> {
    role: Option<&'a str>,
    branch: Option<String>,
    /// The session whose own handoff comes before all others.
    session: Option<String>,
    /// How many are told of.
    limit: usize,
    /// What is left out, where somebody has its context still.
    known: Option<SessionKnowledge>,
    /// Whether git may be started: no client waits.
    may_ask_git: bool,
}

/// What a session knows that has its context still: its own handoffs, and those that it was told of.
struct SessionKnowledge {
    session: String,
    briefed: Vec<DeliveredHandoff>,
}

impl SessionKnowledge {
    /// Where the ledger cannot tell, all of it is told once more.
    fn from_request(asked: &BriefRequest, work: &LedgerFacts) -> Option<Self> {
        let session = asked.session.as_ref().filter(|_| asked.has_context)?;
        let told = delivered_handoffs(work.ledger.as_ref()?, session).ok()?;
        Some(Self { session: session.id.clone(), briefed: told })
    }

    fn is_own(&self, card: &IndexCard) -> bool {
        card.routing.as_ref().is_some_and(|waits| waits.session.as_ref() == Some(&self.session))
    }
}

/// How well a handoff fits: what is smaller comes first.
type HandoffSortKey = (bool, bool, bool, u8, bool, Reverse<Option<i64>>, PathBuf);

/// So many notes that are not briefed are named; the others are counted.
const OTHER_NOTES_MAX: usize = 10;

impl Selection<'_> {
    /// A handoff, unless it is known.
    fn read(&self, project: &Project, spot: &DocumentPlace) -> Option<StoredHandoff> {
        let known = self.known.as_ref();
        let is_known = |shelved: &StoredHandoff| {
            known.is_some_and(|known| known.briefed.contains(&delivered_handoff(project, shelved)))
        };
        project.read(spot).ok().filter(|shelved| !is_known(shelved))
    }

    fn sort_key(
        &self,
        project: &Project,
        spot: &DocumentPlace,
        card: &IndexCard,
        is_sure: bool,
    ) -> HandoffSortKey {
        let nobody = HandoffRouting::default();
        let waits = card.routing.as_ref().unwrap_or(&nobody);
        let is_role = |role: &str| waits.to.iter().any(|to| to.eq_ignore_ascii_case(role));
        let branch = match (&waits.branch, &self.branch) {
            (Some(theirs), Some(ours)) if theirs == ours => 0,
            (None, _) => 1,
            (Some(_), _) => 2,
        };
        (
            spot.is_archived(),
            waits.session.is_none() || waits.session != self.session,
            !self.role.is_some_and(is_role),
            branch,
            // A file that says nothing about its age may be older than it looks.
            waits.is_note && !is_sure,
            Reverse(card.changed),
            project.display_path(spot),
        )
    }
}

/// The open handoffs: how many, those that are told of, and the names of the others.
#[derive(Default)]
struct RankedHandoffs {
    count: usize,
    best: Vec<RankedHandoff>,
    /// Those that are only named, the best first.
    rest: Vec<(DocumentPlace, IndexCard)>,
    others: Vec<String>,
    /// The sessions that left one.
    sessions: HashSet<String>,
    unread: Vec<FileError>,
    indexing: Option<IndexProgress>,
    is_index_incomplete: bool,
}

struct RankedHandoff {
    stored: StoredHandoff,
    card: IndexCard,
    /// Whether a note is as old as its card says: a file may look new because it was copied.
    is_dated: bool,
    citations: Option<(Option<String>, Vec<CitationCheck>)>,
}

impl RankedHandoffs {
    fn find(
        project: &Project,
        asked: &BriefRequest,
        wanted: &Selection<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Self {
        let ask = |index: &mut Index| Self::from_index(project, asked, index, wanted, progress);
        let patience = if asked.limit.is_set() { WaitPolicy::Hook } else { WaitPolicy::Command };
        let found = with_index(project, patience, ask);
        found.unwrap_or_else(|| Self::from_files(project, asked, wanted))
    }

    fn from_index(
        project: &Project,
        asked: &BriefRequest,
        index: &mut Index,
        wanted: &Selection<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, IndexError> {
        let freshness = index.refresh(project, Effort::Open, asked.limit, progress)?;
        let cards = index.open_handoffs(project)?;
        let open = Self::from_cards(project, wanted, cards, Some(index), freshness.unread);
        let (indexing, is_index_left) = (freshness.indexing, freshness.is_cut_short);
        Ok(Self { indexing, is_index_incomplete: is_index_left, ..open })
    }

    /// The same by reading every document; what was judged before is not known then.
    fn from_files(project: &Project, asked: &BriefRequest, wanted: &Selection<'_>) -> Self {
        let OpenHandoffs { cards, unread, indexing } = scan_open(project, asked.limit);
        let open = Self::from_cards(project, wanted, cards, None, unread);
        Self { indexing, is_index_incomplete: indexing.is_some(), ..open }
    }

    fn from_cards(
        project: &Project,
        wanted: &Selection<'_>,
        mut cards: Vec<(DocumentPlace, IndexCard)>,
        index: Option<&Index>,
        unread: Vec<FileError>,
    ) -> Self {
        let unsure = date_notes(project, wanted, &mut cards);
        cards.sort_by_cached_key(|(spot, card)| {
            wanted.sort_key(project, spot, card, !unsure.contains(spot))
        });
        let count = cards.len();
        let session =
            |(_, card): &(DocumentPlace, IndexCard)| card.routing.as_ref()?.session.clone();
        let sessions = cards.iter().filter_map(session).collect();
        cards.retain(|(_, card)| !wanted.known.as_ref().is_some_and(|known| known.is_own(card)));
        let mut cards = cards.into_iter();
        // No more are read than are told of and were told of before.
        let best = cards.by_ref().filter_map(|(spot, card)| {
            let shelved = wanted.read(project, &spot)?;
            let judged = index.and_then(|index| cached_results(project, index, &shelved));
            Some(RankedHandoff {
                is_dated: !unsure.contains(&spot),
                stored: shelved,
                card,
                citations: judged,
            })
        });
        let best = best.take(wanted.limit).collect();
        let rest: Vec<(DocumentPlace, IndexCard)> = cards.collect();
        let others = handoff_names(project, &rest);
        Self { count, best, rest, others, sessions, unread, ..Self::default() }
    }

    /// Reads so many more of them.
    fn read_more(&mut self, project: &Project, wanted: &Selection<'_>, most: usize) {
        let mut rest = std::mem::take(&mut self.rest).into_iter();
        let more = rest.by_ref().filter_map(|(spot, card)| {
            let shelved = wanted.read(project, &spot)?;
            Some(RankedHandoff {
                is_dated: card.changed.is_some(),
                stored: shelved,
                card,
                citations: None,
            })
        });
        self.best.extend(more.take(most));
        self.rest = rest.collect();
        self.others = handoff_names(project, &self.rest);
    }
}

/// The names of handoffs that are not briefed; of notes, some.
fn handoff_names(project: &Project, rest: &[(DocumentPlace, IndexCard)]) -> Vec<String> {
    let name =
        |(spot, _): &(DocumentPlace, IndexCard)| project.display_path(spot).display().to_string();
    let is_note = |card: &IndexCard| card.routing.as_ref().is_some_and(|waits| waits.is_note);
    let (notes, others): (Vec<_>, Vec<_>) = rest.iter().partition(|(_, card)| is_note(card));
    let all = others.into_iter().chain(notes.into_iter().take(OTHER_NOTES_MAX));
    all.map(|card| project.clean(&name(card)).0.as_str().to_owned()).collect()
}

/// Gives notes that do not say when they were written the date of their last change, and says which
/// of these dates come from the file alone.
fn date_notes(
    project: &Project,
    wanted: &Selection<'_>,
    cards: &mut [(DocumentPlace, IndexCard)],
) -> HashSet<DocumentPlace> {
    let is_note = |card: &IndexCard| card.routing.as_ref().is_some_and(|waits| waits.is_note);
    let is_undated = |card: &IndexCard| card.changed.is_none() && is_note(card);
    let undated = cards.iter().filter(|(_, card)| is_undated(card));
    let undated: Vec<&DocumentPlace> = undated.map(|(spot, _)| spot).collect();
    if undated.is_empty() {
        return HashSet::new();
    }
    let mut dates = NoteDates::read(project);
    if wanted.may_ask_git {
        dates.refresh_from_git(project, &undated);
    }
    let mut unsure = HashSet::new();
    for (spot, card) in cards.iter_mut().filter(|(_, card)| is_undated(card)) {
        let Some(dated) = dates.date_of(project, spot) else { continue };
        card.changed = Some(dated.seconds);
        if !dated.is_from_git {
            unsure.insert(spot.clone());
        }
    }
    unsure
}

/// Everything there is to tell. Whoever worked last comes first; a session that left a handoff is
/// told through it.
fn collect_material(
    project: &Project,
    asked: &BriefRequest,
    wanted: &Selection<'_>,
    open: &RankedHandoffs,
    work: &LedgerFacts,
) -> Material {
    let mut boot = Vec::new();
    let mut sources = Vec::new();
    let mut briefed: HashSet<PathBuf> =
        open.best.iter().map(|one| one.stored.path.clone()).collect();
    for one in &open.best {
        let (first, mut told) = collect_handoff_items(project, asked, work.ledger.as_ref(), one);
        let theirs = one.card.routing.as_ref().and_then(|waits| waits.branch.as_ref());
        mark_other_branch(project, &mut told, theirs, wanted, false);
        boot.extend(first);
        told.extend(upstream::collect_upstream_items(project, &one.stored, &mut briefed));
        told.extend(collect_unexplained_items(project, work, one).unwrap_or_default());
        sources.push(told);
    }
    let mut points = Vec::new();
    let before = work.summary.as_ref().map(|gist| {
        let mut told = session_items(gist);
        // A session that goes on has not ended.
        told.retain(|point| !work.is_own || point.rank != ItemRank::Source);
        // What its author wrote down is better than what is derived; facts stand beside it.
        let is_written = |one: &RankedHandoff| {
            let session = one.card.routing.as_ref().and_then(|waits| waits.session.as_ref());
            session == Some(&gist.session) && passes_quality_check(&one.stored.document)
        };
        if !work.is_own && open.best.iter().any(is_written) {
            let is_fact =
                |point: &BriefItem| point.form == ItemForm::Line && point.rank <= ItemRank::Failure;
            told.retain(|point| is_fact(point) && point.rank != ItemRank::NextAction);
            // The handoff has the goal, so no request stands above.
            for point in &mut told {
                point.text = point.text.replace("the request above is unfinished; ", "");
            }
            told.retain(|point| point.text != "the request above is unfinished");
        }
        mark_other_branch(project, &mut told, gist.branch.as_ref(), wanted, work.is_branch_closed);
        told
    });
    match (before, is_session_first(work, open)) {
        // Who goes on itself needs all of it.
        (Some(before), true) if work.is_own => points = before,
        (Some(before), true) => sources.insert(0, before),
        (Some(before), false) => sources.push(before),
        (None, _) => {}
    }
    let own = points.len();
    points.extend(interleave(sources));
    let repository = collect_repository_items(project, asked, wanted, work, &mut points);
    points.extend(repository);
    points.extend(collect_concurrent_session_items(project, asked, work));
    points.extend(unsettled_items(&work.unsettled.0, work.unsettled.1.len()));
    points.extend(work.items.iter().cloned());
    if asked.occasion != Some(BriefOccasion::Prompt) {
        points.extend(earlier_session_items(&work.earlier_work));
    }
    let is_on_page =
        |id: &str| asked.in_context.as_ref().is_some_and(|page| page.contains(short_id(id)));
    let earlier = work.other_sessions.iter();
    let earlier = earlier.filter(|one| !open.sessions.contains(&one.id) && !is_on_page(&one.id));
    points.extend(other_session_items(earlier));
    points.extend(other_handoff_items(open.others.iter().cloned()));
    if let Some(page) = &asked.in_context {
        let others = points.split_off(own);
        points.extend(items_missing_from_text(others, page));
    }
    // What to do next is no fact.
    if asked.occasion == Some(BriefOccasion::Summary) {
        points.retain(|point| point.rank != ItemRank::NextAction);
    }
    if let Some(only) = asked.only {
        points.retain(|point| only.contains(&point.rank));
        let is_constraint =
            |one: &SourcedStartupStep| matches!(one.step, StartupStep::Constraint(_));
        boot.retain(|one| is_constraint(one) && only.contains(&ItemRank::Constraint));
    }
    let most = BUDGET.end().to_string();
    Material {
        client: asked.client,
        occasion: asked.occasion.unwrap_or(BriefOccasion::Startup),
        role: asked.role.clone(),
        branch: wanted.branch.as_deref().map(|name| project.clean(name).0.as_str().to_owned()),
        startup: boot,
        items: points,
        unread: open.indexing.map_or(0, |indexing| indexing.documents - indexing.read),
        show_all: ["midstride", "brief", "--budget", &most].map(str::to_owned).to_vec(),
        headline: work.summary.as_ref().map(headline),
    }
}

/// What is uncommitted, as git said last, and what came to this branch since the session. An agent that
/// is started sees the same tree as its session.
fn collect_repository_items(
    project: &Project,
    asked: &BriefRequest,
    wanted: &Selection<'_>,
    work: &LedgerFacts,
    told: &mut [BriefItem],
) -> Vec<BriefItem> {
    let is_wanted = asked.only.is_none() && asked.occasion != Some(BriefOccasion::Prompt);
    let Some(gist) = work.summary.as_ref().filter(|_| is_wanted) else { return Vec::new() };
    let Some(observation) = last_observation(project) else { return Vec::new() };
    // The session may have worked on another branch or in another working tree.
    let folder = gist.folder.as_deref().map(Path::new);
    let is_here = gist.branch.as_ref() == wanted.branch.as_ref()
        && folder.is_some_and(|folder| folder.starts_with(project.root().path()));
    let mut points = match is_here && mark_clean(told, &observation.work_tree) {
        true => Vec::new(),
        false => work_tree_items(&observation.work_tree),
    };
    points.extend(later_commits_item(&observation, gist).filter(|_| !work.is_own));
    points.extend(earlier_commit_items(&observation, &work.earlier_sessions));
    for point in &mut points {
        point.text = project.clean(&point.text).0.as_str().to_owned();
    }
    points
}

/// What a session did that its handoff may not tell: it did not pass the gate. Where the session
/// itself is told there is no need.
fn collect_unexplained_items(
    project: &Project,
    work: &LedgerFacts,
    one: &RankedHandoff,
) -> Option<Vec<BriefItem>> {
    let ledger = work.ledger.as_ref().filter(|_| !passes_quality_check(&one.stored.document))?;
    let handoff = one.stored.handoff(project);
    let said = |path: &str| Some(handoff.node(path)?.text()?.value.trim());
    let name = SessionName::parse(said("state.recovery.client")?, said("state.recovery.session")?)?;
    if work.summary.as_ref().is_some_and(|gist| gist.session == name.id) {
        return None;
    }
    // A ledger that cannot be read was told of when it was opened.
    let gist = summary_of_session(ledger, &name).ok()??;
    Some(session_items(&required_in_summary(&gist)?))
}

/// Names the branch of work that is on another one than the one that is checked out.
fn mark_other_branch(
    project: &Project,
    points: &mut [BriefItem],
    theirs: Option<&String>,
    wanted: &Selection<'_>,
    is_closed: bool,
) {
    let (Some(theirs), Some(ours)) = (theirs, wanted.branch.as_ref()) else { return };
    if theirs != ours {
        mark_branch(points, project.clean(theirs).0.as_str(), is_closed);
    }
}

/// Whether what a session did comes before what handoffs say.
fn is_session_first(work: &LedgerFacts, open: &RankedHandoffs) -> bool {
    let Some(gist) = &work.summary else { return false };
    let first = open.best.first();
    let left = first.and_then(|one| one.card.routing.as_ref()?.session.as_ref());
    if left == Some(&gist.session) {
        return false;
    }
    let changed = first.and_then(|one| one.card.changed);
    work.is_own || gist.ended.map(Timestamp::as_second) > changed
}

/// What is told of one handoff, without secrets: nobody may have written it through midstride.
fn collect_handoff_items(
    project: &Project,
    asked: &BriefRequest,
    ledger: Option<&SqliteLedger>,
    one: &RankedHandoff,
) -> (Vec<SourcedStartupStep>, Vec<BriefItem>) {
    let shelved = &one.stored;
    // Anchors are for programs.
    let plain = anchor::without_anchors(&shelved.document);
    let document = plain.as_ref().unwrap_or(&shelved.document);
    let handoff = Handoff::new(document, &shelved.location, &project.settings().stages);
    let (judged_at, judged) = one
        .citations
        .as_ref()
        .map_or((None, &[][..]), |(at, judged)| (at.clone(), judged.as_slice()));
    let known = KnownHandoff {
        trials: proof_trials(ledger, &handoff),
        path: clean_path(project, shelved),
        file_changed: one.card.changed.filter(|_| one.is_dated).and_then(timestamp_from_second),
        prompt: asked.prompt.as_deref().map(items::PromptWords::from_prompt),
        handoff,
        drifted_places: judged.iter().filter_map(drifted_place).collect(),
        checked_at: judged_at,
    };
    let clean = |text: &mut String| *text = project.clean(text).0.as_str().to_owned();
    let (mut boot, mut points) = handoff_items(&known);
    boot.retain(|SourcedStartupStep { step: action, .. }| match action {
        // What is gone, or leads out of the project, is not to be read.
        StartupStep::Read(path) => {
            let is_path = StartupKind::Read.rejection_reason(path).is_none();
            !is_path || project.root().has_file(Path::new(path.trim()))
        }
        StartupStep::Skill(_) | StartupStep::Tasks(_) | StartupStep::Constraint(_) => true,
    });
    for point in &mut points {
        clean(&mut point.text);
    }
    for SourcedStartupStep { step: action, .. } in &mut boot {
        match action {
            StartupStep::Skill(text) | StartupStep::Read(text) | StartupStep::Constraint(text) => {
                clean(text);
            }
            StartupStep::Tasks(texts) => texts.iter_mut().for_each(clean),
        }
    }
    (boot, points)
}

fn timestamp_from_second(second: i64) -> Option<Timestamp> {
    Timestamp::from_second(second).ok()
}

/// The path of a document as it is quoted: a name may hold a secret too.
fn clean_path(project: &Project, shelved: &StoredHandoff) -> String {
    project.clean(&shelved.path.display().to_string()).0.as_str().to_owned()
}

/// How the proofs of a handoff ran, as the ledger tells.
fn proof_trials(ledger: Option<&SqliteLedger>, handoff: &Handoff<'_>) -> Vec<ProofTrial> {
    let uid = handoff.uid().map(|uid| uid.value.trim()).filter(|_| !handoff.proofs().is_empty());
    let (Some(ledger), Some(uid)) = (ledger, uid) else { return Vec::new() };
    let records = ledger.read(&StreamId::handoff(uid), None).unwrap_or_default();
    let run = |envelope: &Envelope| {
        let Event::Proof(ProofEvent::Ran { number, command, outcome, commit, .. }) =
            &envelope.event
        else {
            return None;
        };
        Some(ProofTrial {
            number: *number,
            command: command.clone(),
            outcome: outcome.clone(),
            at: envelope.time,
            commit: commit.clone(),
        })
    };
    let mut runs: Vec<ProofTrial> =
        records.iter().flat_map(|record| &record.events).filter_map(run).collect();
    runs.sort_by_key(|run| run.at);
    runs
}

/// A place that is not as it was, if it is one.
fn drifted_place(judged: &CitationCheck) -> Option<DriftedPlace> {
    let has_drifted = match judged.status {
        CitationStatus::Moved
        | CitationStatus::Changed
        | CitationStatus::Renamed
        | CitationStatus::Deleted => true,
        CitationStatus::Intact | CitationStatus::NeverExisted | CitationStatus::Unchecked => false,
    };
    let place = judged.place.value.clone();
    let now = judged.location.as_ref().map(ToString::to_string).filter(|now| *now != place);
    has_drifted.then_some(DriftedPlace { place, verdict: judged.status, now })
}

/// Writes down that a session was told, once for each text.
fn deliver(
    project: &Project,
    asked: &BriefRequest,
    briefed: &BriefOutcome,
    ledger: Option<SqliteLedger>,
) -> Option<Result<Delivery, DeliveryError>> {
    let session = asked.session.as_ref()?;
    if project.setup() == SetupMode::NotSetUp || briefed.briefing.text.is_empty() {
        return None;
    }
    let tell = || -> Result<Delivery, DeliveryError> {
        let digest = sha256(briefed.briefing.text.as_bytes());
        let id = content_id(&[&session.client, &session.id, "briefed", &digest]);
        let event = SessionEvent::Briefed {
            client: session.client.clone(),
            session: session.id.clone(),
            source: asked.occasion.map(|occasion| occasion.name().to_owned()),
            handoffs: briefed.handoffs.clone(),
            checkpoint: briefed.predecessor.as_ref().map(|gist| gist.digest.clone()),
            digest,
            tokens: briefed.briefing.tokens,
        };
        let stream = StreamId::deliveries(&session.client, &session.id);
        let events = vec![session_envelope(project, id, event)];
        let told = match (ledger, wait_policy(asked)) {
            (Some(ledger), _) => ledger.append_missing_or_spool(&stream, events),
            (None, WaitPolicy::Hook) => SqliteLedger::append_or_spool(project, &stream, events),
            (None, WaitPolicy::Command) => SqliteLedger::open(project, WaitPolicy::Command)?
                .append_missing_or_spool(&stream, events),
        };
        Ok(match told? {
            Some(0) => Delivery::Known,
            Some(_) => Delivery::New,
            None => Delivery::Queued,
        })
    };
    Some(tell())
}
