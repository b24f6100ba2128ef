//! Composes the briefing for a session: open handoffs, the previous session, tasks and the mission.
//! For a hook it starts no process and checks no citations again, because the client waits.

mod concurrent;
pub(in crate::verbs) mod dismiss;
pub(in crate::verbs) mod hook;
mod ledger_facts;
pub(in crate::verbs) mod portable;
pub(in crate::verbs) mod preview;
pub(in crate::verbs) mod search_sessions;
pub(in crate::verbs) mod status_line;
pub(in crate::verbs) mod summaries;
mod upstream;

pub use ledger_facts::{NewestSession, agents_in_flight};

pub(crate) use ledger_facts::open_session_items;
pub(in crate::verbs) use ledger_facts::{
    UnfinishedWork, summary_of_session, unfinished_work, visit_latest_summaries,
};

use crate::clients::{self, Client};
use crate::code::drift::cached_results;
use crate::store::Store;
use crate::store::index::{
    Effort, HandoffRouting, Index, IndexCard, IndexError, IndexProgress, OpenHandoffs,
    RefreshLimit, scan_open,
};
use crate::store::ledger::{
    Ledger as _, LedgerError, ProjectLedger, RecordOutcome, StreamId, WaitPolicy,
};
use crate::sys::env::SessionName;
use crate::sys::files::FileError;
use crate::sys::git::Repository;
use crate::sys::ids::sha256;
use crate::verbs::handoff::deliveries::{DeliveryError, delivered_handoff, session_envelope};
use crate::verbs::task::content_id;
use crate::workspace::note_dates::NoteDates;
use crate::workspace::observation::last_observation;
use crate::workspace::{DocumentPlace, SetupMode, StoredHandoff, Workspace};
use concurrent::collect_concurrent_session_items;
use jiff::Timestamp;
use ledger_facts::LedgerFacts;
use midstride_core::brief::hook::{items_missing_from_text, required_in_summary};
use midstride_core::brief::items::{
    self, DriftedPlace, KnownHandoff, ProofTrial, earlier_commit_items, earlier_session_items,
    handoff_items, headline, interleave, mark_branch, mark_clean, mark_newer_session,
    other_handoff_items, other_session_items, session_items, since_then_item, source_name,
    unsettled_items, work_tree_items,
};
use midstride_core::brief::{
    BriefItem, BriefOccasion, Briefing, Budget, ItemForm, ItemRank, Material, SourcedStartupStep,
    StartupStep, StartupTools, compose,
};
use midstride_core::format::header::StartupKind;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::anchor;
use midstride_core::handoff::drift::{CitationCheck, CitationOutcome};
use midstride_core::session::checkpoint::SessionSummary;
use midstride_core::session::quality::passes_quality_check;
use midstride_core::session::short_id;
use midstride_core::text::id::{CommitId, SessionId};
use midstride_core::text::tokens;
use midstride_core::work::event::{DeliveredHandoff, Envelope, Event, ProofEvent, SessionEvent};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// The token budgets a briefing can have.
pub const BUDGET: RangeInclusive<u64> = 200..=20_000;
/// The budget when none is given and no client asks.
const DEFAULT_TOKENS: u64 = 2_000;
/// What one handoff typically costs. The budget divided by this limits how many handoffs are read.
const TOKENS_PER_HANDOFF: u64 = 250;
const HANDOFF_COUNT_RANGE: RangeInclusive<u64> = 3..=80;
/// What to put into a briefing, and for which session.
#[derive(Clone, Debug, Default)]
pub struct BriefRequest {
    /// The event the client reports. If it is set, a client waits for the answer.
    pub occasion: Option<BriefOccasion>,
    /// The client that gets the briefing.
    pub client: Option<&'static dyn Client>,
    /// The role of the agent that gets the briefing.
    pub role: Option<String>,
    /// The session that gets the briefing. The delivery is recorded for it.
    pub session: Option<SessionName>,
    /// The maximum number of tokens.
    pub tokens: Option<u64>,
    /// The ranks to include; all of them if not set.
    pub only: Option<&'static [ItemRank]>,
    /// Whether the session is resumed with its context intact. It knows what it did and what it was
    /// briefed on, so the briefing has only what is new.
    pub has_context: bool,
    /// When such a session was last active, if known. What other sessions did since is new to it.
    pub since: Option<Timestamp>,
    /// How much of the index may be built first. Unlimited when the user waits.
    pub limit: RefreshLimit,
    /// The user's prompt, if the briefing answers one.
    pub prompt: Option<String>,
    /// The session to brief on, instead of the last one.
    pub about: Option<Box<SessionSummary>>,
    /// A page the session already has in its context. What it says about other sessions is not
    /// repeated.
    pub in_context: Option<String>,
}

impl BriefRequest {
    /// Asks for what the next session in this project starts with.
    pub fn for_next_session(workspace: &Workspace) -> Self {
        let tokens = workspace.settings().brief.budget.filter(|tokens| *tokens > 0);
        Self { occasion: Some(BriefOccasion::Startup), tokens, ..Self::default() }
    }
}

/// A briefing, what it covers, and what happened while it was composed.
#[derive(Debug)]
pub struct BriefOutcome {
    /// The briefing itself.
    pub briefing: Briefing,
    /// The handoffs it covers.
    pub handoffs: Vec<DeliveredHandoff>,
    /// How many handoffs are open.
    pub open: usize,
    /// The progress of the index if some handoffs are not read yet. The briefing then covers the
    /// newest.
    pub indexing: Option<IndexProgress>,
    /// Whether the index still has to be finished.
    pub is_index_incomplete: bool,
    /// The earlier session it covers.
    pub predecessor: Option<SessionSummary>,
    /// Whether the delivery was recorded.
    pub delivery: Delivery,
    /// Why the ledger could not be read.
    pub ledger_error: Option<LedgerError>,
    /// The files that could not be read.
    pub unread: Vec<FileError>,
}

/// How a delivery was recorded.
#[derive(Debug)]
pub enum Delivery {
    /// There is nothing to record: the request names no session, or the briefing is empty.
    Nothing,
    /// A new delivery record was written.
    New,
    /// The session already got exactly this text.
    Known,
    /// The ledger was busy. The next command writes the record.
    Queued,
    /// It could not be recorded.
    Failed(DeliveryError),
}

impl Delivery {
    /// Why it could not be recorded.
    pub fn error(&self) -> Option<&DeliveryError> {
        match self {
            Self::Failed(error) => Some(error),
            Self::Nothing | Self::New | Self::Known | Self::Queued => None,
        }
    }
}

/// Composes the briefing for a session. `progress` is called while the index is built.
///
/// ```
/// use midstride::verbs::{self, BriefRequest, NewHandoff};
/// # use midstride::store::Store;
/// # use midstride::store::ledger::WaitPolicy;
/// # use midstride::sys::clock::Clock;
/// # use midstride::sys::env::{Invoker, Environment, UserName, Variables};
/// # use midstride::workspace::Workspace;
/// # let project = tempfile::tempdir()?;
/// # let environment = Environment {
/// #     folder: project.path().to_owned(),
/// #     home: None,
/// #     state: None,
/// #     variables: Variables::NONE,
/// #     editor: None,
/// #     user: UserName::given("ada"),
/// #     invoker: Invoker::User,
/// #     session: None,
/// #     clock: Clock::Fixed("2026-03-21T17:24:00Z".parse()?),
/// # };
/// # verbs::init(&Workspace::discover(environment.clone())?, false, None)?;
/// # let store = Store::new(Workspace::discover(environment)?, WaitPolicy::Command);
///
/// let wanted = NewHandoff { title: Some("Search is slow".to_owned()), ..NewHandoff::default() };
/// verbs::new(&store, &wanted)?;
/// let outcome = verbs::brief(&store, &BriefRequest::default(), &mut |_, _| ());
/// assert_eq!(outcome.open, 1);
/// assert!(outcome.briefing.text.contains("Search is slow"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn brief(
    store: &Store,
    asked: &BriefRequest,
    progress: &mut dyn FnMut(usize, usize),
) -> BriefOutcome {
    brief_with(store, asked, |wanted| RankedHandoffs::find(store, asked, wanted, progress))
}

/// Composes a briefing without the index, for callers that must not write one.
pub(in crate::verbs) fn brief_without_index(store: &Store, asked: &BriefRequest) -> BriefOutcome {
    let workspace = store.workspace();
    brief_with(store, asked, |wanted| RankedHandoffs::from_files(workspace, asked, wanted))
}

fn brief_with(
    store: &Store,
    asked: &BriefRequest,
    find: impl FnOnce(&Selection<'_>) -> RankedHandoffs,
) -> BriefOutcome {
    let workspace = store.workspace();
    let tokens = token_budget(asked);
    let (work, trouble) = match LedgerFacts::read(store, asked) {
        Ok(work) => (work, None),
        Err(trouble) => (LedgerFacts::default(), Some(trouble)),
    };
    let count = (tokens / TOKENS_PER_HANDOFF)
        .clamp(*HANDOFF_COUNT_RANGE.start(), *HANDOFF_COUNT_RANGE.end());
    let wanted = Selection {
        role: asked.role.as_deref(),
        branch: workspace.repository().and_then(Repository::branch),
        session: work.summary.as_ref().map(|summary| summary.session.clone()),
        limit: usize::try_from(count).unwrap_or(usize::MAX),
        known: SessionKnowledge::from_request(asked, &work),
        may_ask_git: asked.occasion.is_none(),
    };
    let mut open = find(&wanted);
    let mut page = compose_page(workspace, asked, &wanted, &open, &work);
    // Short handoffs leave tokens for more of them.
    if !open.rest.is_empty() && page.tokens * 10 < tokens * FILL_TENTHS_MIN {
        open.read_more(workspace, &wanted, wanted.limit * EXTRA_HANDOFFS_FACTOR);
        page = self::compose_page(workspace, asked, &wanted, &open, &work);
    }
    BriefOutcome { ledger_error: trouble, ..deliver_page(store, asked, page, open, work) }
}

/// A page that uses less than this many tenths of its budget gets more handoffs, up to
/// [`EXTRA_HANDOFFS_FACTOR`] times as many.
const FILL_TENTHS_MIN: u64 = 7;
const EXTRA_HANDOFFS_FACTOR: usize = 3;

/// Composes a briefing on these handoffs only.
pub(in crate::verbs) fn brief_handoffs(
    store: &Store,
    asked: &BriefRequest,
    handoffs: Vec<StoredHandoff>,
) -> BriefOutcome {
    let workspace = store.workspace();
    let wanted = Selection {
        role: None,
        branch: workspace.repository().and_then(Repository::branch),
        session: None,
        limit: handoffs.len(),
        known: None,
        may_ask_git: false,
    };
    let opened = |stored| {
        let card = IndexCard::from_document(workspace, &stored);
        RankedHandoff { is_dated: card.changed.is_some(), card, citations: None, stored }
    };
    let best: Vec<RankedHandoff> = handoffs.into_iter().map(opened).collect();
    let open = RankedHandoffs { count: best.len(), best, ..RankedHandoffs::default() };
    let (ledger, trouble) = match store.existing_ledger() {
        Ok(ledger) => (ledger, None),
        Err(trouble) => (None, Some(trouble)),
    };
    let work = LedgerFacts { ledger, ..LedgerFacts::default() };
    let page = compose_page(workspace, asked, &wanted, &open, &work);
    BriefOutcome { ledger_error: trouble, ..deliver_page(store, asked, page, open, work) }
}

/// Whether a prompt proposes something that a handoff rejected.
pub(in crate::verbs) fn is_rejected(
    workspace: &Workspace,
    prompt: &str,
    stored: &StoredHandoff,
) -> bool {
    let known = KnownHandoff {
        handoff: stored.handoff(workspace),
        path: clean_path(workspace, stored),
        file_changed: None,
        prompt: Some(items::PromptWords::from_prompt(prompt)),
        trials: Vec::new(),
        drifted_places: Vec::new(),
        checked_at: None,
        missing: items::MissingCitations::default(),
    };
    handoff_items(&known).1.iter().any(|item| item.heading == items::REJECTED)
}

/// Composes a briefing on what the session itself did.
pub(in crate::verbs) fn brief_own_work(
    workspace: &Workspace,
    asked: &BriefRequest,
    summary: &SessionSummary,
) -> Briefing {
    let wanted = Selection {
        role: None,
        branch: workspace.repository().and_then(Repository::branch),
        session: None,
        limit: 0,
        known: None,
        may_ask_git: false,
    };
    let work =
        LedgerFacts { summary: Some(summary.clone()), is_own: true, ..LedgerFacts::default() };
    let open = RankedHandoffs::default();
    let material = collect_material(workspace, asked, &wanted, &open, &work);
    compose_clean(workspace, asked, &material)
}

/// The handoffs a session was briefed on, from its delivery records.
pub(in crate::verbs) fn delivered_handoffs(
    ledger: &ProjectLedger,
    session: &SessionName,
) -> Result<Vec<DeliveredHandoff>, LedgerError> {
    let records = ledger.read(&StreamId::deliveries(&session.client, &session.id), None)?;
    let events = records.into_iter().flat_map(|record| record.events);
    let briefed = events.filter_map(|envelope| match envelope.event {
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
        | Event::Unknown(_)
        | _ => None,
    });
    Ok(briefed.flatten().collect())
}

/// The budget for the client that gets the briefing.
fn budget(asked: &BriefRequest) -> Budget {
    let utf16_units = asked.client.and_then(|client| client.profile().hook_utf16_units_max);
    Budget { tokens: token_budget(asked), utf16_units }
}

fn token_budget(asked: &BriefRequest) -> u64 {
    let usual = || asked.occasion.map_or(DEFAULT_TOKENS, BriefOccasion::tokens_max);
    asked.tokens.unwrap_or_else(usual)
}

/// Composes the page from everything that was found.
fn compose_page(
    workspace: &Workspace,
    asked: &BriefRequest,
    wanted: &Selection<'_>,
    open: &RankedHandoffs,
    work: &LedgerFacts<'_>,
) -> Briefing {
    let material = collect_material(workspace, asked, wanted, open, work);
    compose_clean(workspace, asked, &material)
}

/// Composes a page and redacts it again: a page joins lines of a text, and together they may say that
/// one of them is a secret.
fn compose_clean(workspace: &Workspace, asked: &BriefRequest, material: &Material) -> Briefing {
    let page = compose(material, budget(asked));
    let (clean, found) = workspace.clean(&page.text);
    if found.is_empty() {
        return page;
    }
    let text = clean.as_str().to_owned();
    Briefing { tokens: tokens::estimate(&text), text, ..page }
}

/// Finishes a page: lists the handoffs on it and records the delivery.
fn deliver_page(
    store: &Store,
    asked: &BriefRequest,
    briefing: Briefing,
    open: RankedHandoffs,
    work: LedgerFacts<'_>,
) -> BriefOutcome {
    let workspace = store.workspace();
    let is_included = |stored: &&StoredHandoff| {
        let source = source_name(&stored.handoff(workspace), &clean_path(workspace, stored));
        briefing.included.iter().any(|included| included.source == source)
    };
    let included = open.best.iter().map(|one| &one.stored).filter(is_included);
    let handoffs: Vec<DeliveredHandoff> =
        included.map(|stored| delivered_handoff(workspace, stored)).collect();
    let mut briefed = BriefOutcome {
        briefing,
        handoffs,
        open: open.count,
        indexing: open.indexing,
        is_index_incomplete: open.is_index_incomplete,
        predecessor: work.summary,
        delivery: Delivery::Nothing,
        ledger_error: None,
        unread: open.unread,
    };
    briefed.delivery = deliver(store, asked, &briefed);
    briefed
}

/// What decides which open handoffs come first.
struct Selection<'a> {
    role: Option<&'a str>,
    branch: Option<String>,
    /// The session whose own handoff comes before all others.
    session: Option<SessionId>,
    /// How many handoffs to read.
    limit: usize,
    /// What to omit if the session still has its context.
    known: Option<SessionKnowledge>,
    /// Whether git may be started; not while a client waits.
    may_ask_git: bool,
}

/// What a session with its context intact knows: its own handoffs and those it was briefed on.
struct SessionKnowledge {
    session: SessionId,
    briefed: Vec<DeliveredHandoff>,
}

impl SessionKnowledge {
    /// `None` if the ledger cannot be read. The session is then briefed on everything again.
    fn from_request(asked: &BriefRequest, work: &LedgerFacts<'_>) -> Option<Self> {
        let session = asked.session.as_ref().filter(|_| asked.has_context)?;
        let briefed = delivered_handoffs(work.ledger?, session).ok()?;
        Some(Self { session: session.id.clone(), briefed })
    }

    fn is_own(&self, card: &IndexCard) -> bool {
        card.routing.as_ref().is_some_and(|routing| routing.session.as_ref() == Some(&self.session))
    }
}

/// How well a handoff fits. Smaller keys come first.
type HandoffSortKey = (bool, bool, bool, u8, bool, Reverse<Option<i64>>, PathBuf);

/// How many omitted notes are named. The rest are counted.
const OTHER_NOTES_MAX: usize = 10;

impl Selection<'_> {
    /// Reads a handoff, unless the session already knows it.
    fn read(&self, workspace: &Workspace, place: &DocumentPlace) -> Option<StoredHandoff> {
        let known = self.known.as_ref();
        let is_known = |stored: &StoredHandoff| {
            known.is_some_and(|known| known.briefed.contains(&delivered_handoff(workspace, stored)))
        };
        workspace.read(place).ok().filter(|stored| !is_known(stored))
    }

    fn sort_key(
        &self,
        workspace: &Workspace,
        place: &DocumentPlace,
        card: &IndexCard,
        is_sure: bool,
    ) -> HandoffSortKey {
        let unrouted = HandoffRouting::default();
        let routing = card.routing.as_ref().unwrap_or(&unrouted);
        let is_role = |role: &str| routing.to.iter().any(|to| to.eq_ignore_ascii_case(role));
        let branch = match (&routing.branch, &self.branch) {
            (Some(theirs), Some(ours)) if theirs == ours => 0,
            (None, _) => 1,
            (Some(_), _) => 2,
        };
        (
            place.is_archived(),
            routing.session.is_none() || routing.session != self.session,
            !self.role.is_some_and(is_role),
            branch,
            // A note whose date comes from the file alone may be older than it looks.
            routing.is_note && !is_sure,
            Reverse(card.changed),
            workspace.display_path(place),
        )
    }
}

/// The open handoffs: their number, those to brief on, and the names of the others.
#[derive(Default)]
struct RankedHandoffs {
    count: usize,
    best: Vec<RankedHandoff>,
    /// Those that are only named, best first.
    rest: Vec<(DocumentPlace, IndexCard)>,
    others: Vec<String>,
    /// The sessions that wrote an open handoff.
    sessions: HashSet<SessionId>,
    unread: Vec<FileError>,
    indexing: Option<IndexProgress>,
    is_index_incomplete: bool,
}

struct RankedHandoff {
    stored: StoredHandoff,
    card: IndexCard,
    /// Whether the date on the card is reliable. A copied note looks newer than it is.
    is_dated: bool,
    citations: Option<(Option<CommitId>, Vec<CitationCheck>)>,
}

impl RankedHandoffs {
    fn find(
        store: &Store,
        asked: &BriefRequest,
        wanted: &Selection<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Self {
        let workspace = store.workspace();
        let ask = |index: &mut Index| Self::from_index(workspace, asked, index, wanted, progress);
        let found = store.with_index(ask);
        found.unwrap_or_else(|| Self::from_files(workspace, asked, wanted))
    }

    fn from_index(
        workspace: &Workspace,
        asked: &BriefRequest,
        index: &mut Index,
        wanted: &Selection<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, IndexError> {
        let freshness = index.refresh(workspace, Effort::Open, asked.limit, progress)?;
        let cards = index.open_handoffs(workspace)?;
        let open = Self::from_cards(workspace, wanted, cards, Some(index), freshness.unread);
        let (indexing, is_index_left) = (freshness.indexing, freshness.is_cut_short);
        Ok(Self { indexing, is_index_incomplete: is_index_left, ..open })
    }

    /// Ranks handoffs by reading every document. Earlier citation checks are not available then.
    fn from_files(workspace: &Workspace, asked: &BriefRequest, wanted: &Selection<'_>) -> Self {
        let OpenHandoffs { cards, unread, indexing } = scan_open(workspace, asked.limit);
        let open = Self::from_cards(workspace, wanted, cards, None, unread);
        Self { indexing, is_index_incomplete: indexing.is_some(), ..open }
    }

    fn from_cards(
        workspace: &Workspace,
        wanted: &Selection<'_>,
        mut cards: Vec<(DocumentPlace, IndexCard)>,
        index: Option<&Index>,
        unread: Vec<FileError>,
    ) -> Self {
        let unsure = date_notes(workspace, wanted, &mut cards);
        cards.sort_by_cached_key(|(place, card)| {
            wanted.sort_key(workspace, place, card, !unsure.contains(place))
        });
        let count = cards.len();
        let session =
            |(_, card): &(DocumentPlace, IndexCard)| card.routing.as_ref()?.session.clone();
        let sessions = cards.iter().filter_map(session).collect();
        cards.retain(|(_, card)| !wanted.known.as_ref().is_some_and(|known| known.is_own(card)));
        let mut cards = cards.into_iter();
        // Reads no more documents than the limit, plus those the session already knows.
        let best = cards.by_ref().filter_map(|(place, card)| {
            let stored = wanted.read(workspace, &place)?;
            let citations = index.and_then(|index| cached_results(workspace, index, &stored));
            Some(RankedHandoff { is_dated: !unsure.contains(&place), stored, card, citations })
        });
        let best = best.take(wanted.limit).collect();
        let rest: Vec<(DocumentPlace, IndexCard)> = cards.collect();
        let others = handoff_names(workspace, &rest);
        Self { count, best, rest, others, sessions, unread, ..Self::default() }
    }

    /// Reads up to `most` more handoffs from the rest.
    fn read_more(&mut self, workspace: &Workspace, wanted: &Selection<'_>, most: usize) {
        let mut rest = std::mem::take(&mut self.rest).into_iter();
        let more = rest.by_ref().filter_map(|(place, card)| {
            let stored = wanted.read(workspace, &place)?;
            Some(RankedHandoff { is_dated: card.changed.is_some(), stored, card, citations: None })
        });
        self.best.extend(more.take(most));
        self.rest = rest.collect();
        self.others = handoff_names(workspace, &self.rest);
    }
}

/// The names of the handoffs that are not briefed. Only some of the notes are named.
fn handoff_names(workspace: &Workspace, rest: &[(DocumentPlace, IndexCard)]) -> Vec<String> {
    let name = |(place, _): &(DocumentPlace, IndexCard)| {
        workspace.display_path(place).display().to_string()
    };
    let is_note = |card: &IndexCard| card.routing.as_ref().is_some_and(|routing| routing.is_note);
    let (notes, others): (Vec<_>, Vec<_>) = rest.iter().partition(|(_, card)| is_note(card));
    let all = others.into_iter().chain(notes.into_iter().take(OTHER_NOTES_MAX));
    all.map(|card| workspace.clean(&name(card)).0.as_str().to_owned()).collect()
}

/// Dates undated notes by their last change. Returns those whose date comes from the file alone.
fn date_notes(
    workspace: &Workspace,
    wanted: &Selection<'_>,
    cards: &mut [(DocumentPlace, IndexCard)],
) -> HashSet<DocumentPlace> {
    let is_note = |card: &IndexCard| card.routing.as_ref().is_some_and(|routing| routing.is_note);
    let is_undated = |card: &IndexCard| card.changed.is_none() && is_note(card);
    let undated = cards.iter().filter(|(_, card)| is_undated(card));
    let undated: Vec<&DocumentPlace> = undated.map(|(place, _)| place).collect();
    if undated.is_empty() {
        return HashSet::new();
    }
    let mut dates = NoteDates::read(workspace);
    if wanted.may_ask_git {
        dates.refresh_from_git(workspace, &undated);
    }
    let mut unsure = HashSet::new();
    for (place, card) in cards.iter_mut().filter(|(_, card)| is_undated(card)) {
        let Some(dated) = dates.date_of(workspace, place) else { continue };
        card.changed = Some(dated.seconds);
        if !dated.is_from_git {
            unsure.insert(place.clone());
        }
    }
    unsure
}

/// Collects everything a briefing can include. The latest work comes first. If a session wrote a
/// handoff, that handoff describes it.
fn collect_material(
    workspace: &Workspace,
    asked: &BriefRequest,
    wanted: &Selection<'_>,
    open: &RankedHandoffs,
    work: &LedgerFacts<'_>,
) -> Material {
    let mut startup = Vec::new();
    let mut sources = Vec::new();
    let mut briefed: HashSet<PathBuf> =
        open.best.iter().map(|one| one.stored.path.clone()).collect();
    for one in &open.best {
        let (first, mut source) = collect_handoff_items(workspace, asked, work.ledger, one);
        let theirs = one.card.routing.as_ref().and_then(|routing| routing.branch.as_ref());
        mark_other_branch(workspace, &mut source, theirs, wanted, false);
        startup.extend(first);
        source.extend(upstream::collect_upstream_items(workspace, &one.stored, &mut briefed));
        source.extend(collect_unexplained_items(workspace, work, one).unwrap_or_default());
        sources.push(source);
    }
    let mut items = Vec::new();
    let before = work.summary.as_ref().map(|summary| {
        let mut source = session_items(summary, clients::title(summary.client.as_str()));
        if asked.about.is_some() {
            name_chosen_session(&mut source);
        }
        // A resumed session has not ended.
        source.retain(|item| !work.is_own || item.rank != ItemRank::Source);
        // A handoff its author wrote beats what midstride derives, so only facts are kept next to
        // it.
        let is_written = |one: &RankedHandoff| {
            let session = one.card.routing.as_ref().and_then(|routing| routing.session.as_ref());
            session == Some(&summary.session) && passes_quality_check(&one.stored.document)
        };
        if !work.is_own && open.best.iter().any(is_written) {
            let is_fact =
                |item: &BriefItem| item.form == ItemForm::Line && item.rank <= ItemRank::Failure;
            source.retain(|item| is_fact(item) && item.rank != ItemRank::NextAction);
            // The handoff states the goal, so no request is quoted above.
            for item in &mut source {
                item.text = item.text.replace("the request above is unfinished; ", "");
            }
            source.retain(|item| item.text != "the request above is unfinished");
        }
        mark_other_branch(
            workspace,
            &mut source,
            summary.branch.as_ref(),
            wanted,
            work.is_branch_closed,
        );
        if let Some(newest) = work.newest.as_ref().filter(|_| asked.about.is_none()) {
            let title = clients::title(newest.summary.client.as_str());
            let named = (&newest.summary, title);
            mark_newer_session(&mut source, newest.scope, named, wanted.branch.as_deref());
        }
        source
    });
    match (before, asked.about.is_some() || is_session_first(work, open)) {
        // A session that continues its own work needs all of it.
        (Some(before), true) if work.is_own => items = before,
        (Some(before), true) => sources.insert(0, before),
        (Some(before), false) => sources.push(before),
        (None, _) => {}
    }
    let own = items.len();
    items.extend(interleave(sources));
    let repository = collect_repository_items(workspace, asked, wanted, work, &mut items);
    items.extend(repository);
    items.extend(collect_concurrent_session_items(workspace, asked, work));
    let ended = work.summary.as_ref().filter(|_| !work.is_own).and_then(|summary| summary.ended);
    items.extend(unsettled_items(&work.unsettled.0, work.unsettled.1.len(), ended));
    items.extend(work.items.iter().cloned());
    if asked.occasion != Some(BriefOccasion::Prompt) {
        items.extend(earlier_session_items(&work.earlier_work, ended));
    }
    let is_on_page = |id: &SessionId| {
        asked.in_context.as_ref().is_some_and(|page| page.contains(short_id(id.as_str())))
    };
    let earlier = work.other_sessions.iter();
    let earlier = earlier.filter(|one| !open.sessions.contains(&one.id) && !is_on_page(&one.id));
    items.extend(other_session_items(earlier, ended));
    items.extend(other_handoff_items(open.others.iter().cloned()));
    if let Some(page) = &asked.in_context {
        let others = items.split_off(own);
        items.extend(items_missing_from_text(others, page));
    }
    // The next action is not a fact the summary has to keep.
    if asked.occasion == Some(BriefOccasion::Summary) {
        items.retain(|item| item.rank != ItemRank::NextAction);
    }
    if let Some(only) = asked.only {
        items.retain(|item| only.contains(&item.rank));
        let is_constraint =
            |one: &SourcedStartupStep| matches!(one.step, StartupStep::Constraint(_));
        startup.retain(|one| is_constraint(one) && only.contains(&ItemRank::Constraint));
    }
    // At the maximum, no command prints more.
    let more = (token_budget(asked) < *BUDGET.end()).then(|| {
        ["midstride", "brief", "--budget", &BUDGET.end().to_string()].map(str::to_owned).to_vec()
    });
    Material {
        tools: asked.client.map_or(StartupTools::UNKNOWN, |client| client.profile().tools),
        occasion: asked.occasion.unwrap_or(BriefOccasion::Startup),
        role: asked.role.clone(),
        branch: wanted.branch.as_deref().map(|name| workspace.clean(name).0.as_str().to_owned()),
        startup,
        items,
        unread: open.indexing.map_or(0, |indexing| indexing.documents - indexing.read),
        show_all: more.unwrap_or_default(),
        headline: work.summary.as_ref().map(headline),
    }
}

/// A session that was chosen may not be the last one.
fn name_chosen_session(items: &mut [BriefItem]) {
    for item in items.iter_mut().filter(|item| item.rank == ItemRank::Source) {
        item.heading = "Session";
    }
}

/// What is uncommitted according to the last observation, and what was committed on this branch
/// since the session. Prompts and restricted briefings omit this.
fn collect_repository_items(
    workspace: &Workspace,
    asked: &BriefRequest,
    wanted: &Selection<'_>,
    work: &LedgerFacts<'_>,
    existing: &mut [BriefItem],
) -> Vec<BriefItem> {
    let is_wanted = asked.only.is_none() && asked.occasion != Some(BriefOccasion::Prompt);
    let Some(summary) = work.summary.as_ref().filter(|_| is_wanted) else { return Vec::new() };
    let observation = last_observation(workspace);
    let now = workspace.environment().clock.now();
    let since_then =
        || since_then_item(observation.as_ref(), summary, now).filter(|_| !work.is_own);
    let Some(observation) = &observation else { return since_then().into_iter().collect() };
    // The session may have worked on another branch or in another working tree.
    let folder = summary.folder.as_deref().map(Path::new);
    let is_here = summary.branch.as_ref() == wanted.branch.as_ref()
        && folder.is_some_and(|folder| folder.starts_with(workspace.root().path()));
    let mut items = match is_here && mark_clean(existing, &observation.work_tree) {
        true => Vec::new(),
        false => work_tree_items(&observation.work_tree),
    };
    items.extend(since_then());
    items.extend(earlier_commit_items(observation, &work.earlier_sessions));
    for item in &mut items {
        item.text = workspace.clean(&item.text).0.as_str().to_owned();
    }
    items
}

/// What a session did that its handoff may not cover, because the handoff failed the quality check.
/// `None` if the briefing covers the session itself.
fn collect_unexplained_items(
    workspace: &Workspace,
    work: &LedgerFacts<'_>,
    one: &RankedHandoff,
) -> Option<Vec<BriefItem>> {
    let ledger = work.ledger.filter(|_| !passes_quality_check(&one.stored.document))?;
    let handoff = one.stored.handoff(workspace);
    let header_text = |path: &str| Some(handoff.node(path)?.text()?.value.trim());
    let name = SessionName::parse(
        header_text("state.recovery.client")?,
        header_text("state.recovery.session")?,
    )?;
    if work.summary.as_ref().is_some_and(|summary| summary.session == name.id) {
        return None;
    }
    // A ledger that cannot be read was reported when it was opened.
    let summary = summary_of_session(ledger, &name).ok()??;
    let title = clients::title(summary.client.as_str());
    Some(session_items(&required_in_summary(&summary)?, title))
}

/// Marks items with their branch if it is not the one checked out.
fn mark_other_branch(
    workspace: &Workspace,
    items: &mut [BriefItem],
    theirs: Option<&String>,
    wanted: &Selection<'_>,
    is_closed: bool,
) {
    let (Some(theirs), Some(ours)) = (theirs, wanted.branch.as_ref()) else { return };
    if theirs != ours {
        mark_branch(items, workspace.clean(theirs).0.as_str(), is_closed);
    }
}

/// Whether the session comes before the handoffs.
fn is_session_first(work: &LedgerFacts<'_>, open: &RankedHandoffs) -> bool {
    let Some(summary) = &work.summary else { return false };
    let first = open.best.first();
    let left = first.and_then(|one| one.card.routing.as_ref()?.session.as_ref());
    if left == Some(&summary.session) {
        return false;
    }
    // A note of unknown age may be much older than the session, or about something else.
    let is_unknown = |one: &RankedHandoff| {
        let is_note = one.card.routing.as_ref().is_some_and(|routing| routing.is_note);
        let checks = one.citations.as_ref().map(|(_, checks)| checks.as_slice());
        let missing = checks.map(items::MissingCitations::from_checks).unwrap_or_default();
        is_note && (!one.is_dated || missing.is_most())
    };
    let changed = first.filter(|one| !is_unknown(one)).and_then(|one| one.card.changed);
    work.is_own || summary.ended.map(Timestamp::as_second) > changed
}

/// The items of one handoff, redacted again: the file may not have been written through midstride.
fn collect_handoff_items(
    workspace: &Workspace,
    asked: &BriefRequest,
    ledger: Option<&ProjectLedger>,
    one: &RankedHandoff,
) -> (Vec<SourcedStartupStep>, Vec<BriefItem>) {
    let stored = &one.stored;
    // Anchors are for programs, not for readers.
    let plain = anchor::without_anchors(&stored.document);
    let document = plain.as_ref().unwrap_or(&stored.document);
    let handoff = Handoff::new(document, &stored.location, &workspace.settings().stages);
    let (checked_at, checks) = one
        .citations
        .as_ref()
        .map_or((None, &[][..]), |(at, checks)| (at.clone(), checks.as_slice()));
    let known = KnownHandoff {
        trials: proof_trials(ledger, &handoff),
        path: clean_path(workspace, stored),
        file_changed: one.card.changed.filter(|_| one.is_dated).and_then(timestamp_from_second),
        prompt: asked.prompt.as_deref().map(items::PromptWords::from_prompt),
        handoff,
        drifted_places: checks.iter().filter_map(drifted_place).collect(),
        missing: items::MissingCitations::from_checks(checks),
        checked_at,
    };
    let clean = |text: &mut String| *text = workspace.clean(text).0.as_str().to_owned();
    let (mut startup, mut items) = handoff_items(&known);
    startup.retain(|SourcedStartupStep { step: action, .. }| match action {
        // Skip files that are deleted or outside the project.
        StartupStep::Read(path) => {
            let is_path = StartupKind::Read.rejection_reason(path).is_none();
            !is_path || workspace.root().has_file(Path::new(path.trim()))
        }
        StartupStep::Skill(_) | StartupStep::Tasks(_) | StartupStep::Constraint(_) => true,
    });
    for item in &mut items {
        clean(&mut item.text);
    }
    for SourcedStartupStep { step: action, .. } in &mut startup {
        match action {
            StartupStep::Skill(text) | StartupStep::Read(text) | StartupStep::Constraint(text) => {
                clean(text);
            }
            StartupStep::Tasks(texts) => texts.iter_mut().for_each(clean),
        }
    }
    (startup, items)
}

fn timestamp_from_second(second: i64) -> Option<Timestamp> {
    Timestamp::from_second(second).ok()
}

/// The path of a document for quoting. A file name can contain a secret, too.
fn clean_path(workspace: &Workspace, stored: &StoredHandoff) -> String {
    workspace.clean(&stored.path.display().to_string()).0.as_str().to_owned()
}

/// The proof runs of a handoff that the ledger records, oldest first.
fn proof_trials(ledger: Option<&ProjectLedger>, handoff: &Handoff<'_>) -> Vec<ProofTrial> {
    let uid = handoff.uid().filter(|_| !handoff.proofs().is_empty());
    let (Some(ledger), Some(uid)) = (ledger, uid) else { return Vec::new() };
    let records = ledger.read(&StreamId::handoff(&uid), None).unwrap_or_default();
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

/// The cited place if it drifted.
fn drifted_place(check: &CitationCheck) -> Option<DriftedPlace> {
    let now = match &check.outcome {
        CitationOutcome::Moved(now)
        | CitationOutcome::Changed { location: now, .. }
        | CitationOutcome::Renamed(now) => Some(now.to_string()),
        CitationOutcome::Deleted => None,
        CitationOutcome::Intact(_) | CitationOutcome::NeverExisted | CitationOutcome::Unchecked => {
            return None;
        }
    };
    let place = check.place.value.clone();
    let now = now.filter(|now| *now != place);
    Some(DriftedPlace { place, verdict: check.outcome.status(), now })
}

/// Records that a session got this briefing, once per text.
fn deliver(store: &Store, asked: &BriefRequest, briefed: &BriefOutcome) -> Delivery {
    let workspace = store.workspace();
    let Some(session) = &asked.session else { return Delivery::Nothing };
    if workspace.setup() == SetupMode::NotSetUp || briefed.briefing.text.is_empty() {
        return Delivery::Nothing;
    }
    let record = || -> Result<Delivery, DeliveryError> {
        let digest = sha256(briefed.briefing.text.as_bytes());
        let id = content_id(&[&session.client, session.id.as_str(), "briefed", &digest]);
        let event = SessionEvent::Briefed {
            client: session.client.clone(),
            session: session.id.clone(),
            source: asked.occasion.map(|occasion| occasion.name().to_owned()),
            handoffs: briefed.handoffs.clone(),
            checkpoint: briefed.predecessor.as_ref().map(|summary| summary.digest.clone()),
            digest,
            tokens: briefed.briefing.tokens,
        };
        let stream = StreamId::deliveries(&session.client, &session.id);
        let events = vec![session_envelope(workspace, id, event)];
        if store.wait_policy() == WaitPolicy::Command {
            store.ledger()?;
        }
        Ok(match store.append_or_spool(&stream, events)? {
            RecordOutcome::New(0) => Delivery::Known,
            RecordOutcome::New(_) => Delivery::New,
            RecordOutcome::Later => Delivery::Queued,
        })
    };
    record().unwrap_or_else(Delivery::Failed)
}
