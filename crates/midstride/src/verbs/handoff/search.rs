//! Searches handoffs by words or by what a prompt is about.

use crate::store::Store;
use crate::store::index::{
    DocumentHit, Effort, Filter, Index, IndexCard, IndexError, RefreshLimit, TermHits,
    match_document, scan, scan_terms,
};
use crate::sys::clock::Deadline;
use crate::sys::files::{self, FileError};
use crate::workspace::{DocumentPlace, StoredHandoff, Workspace};
use jiff::Timestamp;
use midstride_core::brief::search::{
    MatchExcerpt, Query, Relevance, ScoredTerm, candidate_names, common_threshold, handoff_texts,
    match_excerpts, term_points, term_zone,
};
use midstride_core::text::words::{SalientTerm, SearchTerm, salient_terms};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a ranked search may take. After that, results are not ranked.
const RANKED_TIMEOUT: Duration = Duration::from_millis(100);
/// With fewer documents than this no search is slow, however busy the machine is.
const FEW_DOCUMENTS: usize = 10_000;
/// For so few documents, only a search that hangs is given up.
const RANKED_FEW_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an unranked search may read documents one by one.
const UNRANKED_TIMEOUT: Duration = Duration::from_millis(100);
/// How long a search may take while a client waits for its hook.
pub(crate) const HOOK_SEARCH_TIMEOUT: Duration = Duration::from_millis(50);
/// How often the search is retried if documents change meanwhile.
const TRIES_MAX: usize = 5;

/// What to search for.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The words.
    pub query: Query,
    /// The conditions that must also hold.
    pub filter: Filter,
    /// The maximum number of results.
    pub limit: usize,
    /// Whether to check every document for changes, however many there are.
    pub fresh: bool,
}

/// A matching handoff, and why it matches.
#[derive(Debug)]
pub struct ExplainedHit {
    /// The document as it is now.
    pub stored: StoredHandoff,
    /// The matching texts.
    pub why: Vec<MatchExcerpt>,
}

/// The results of a search.
#[derive(Debug)]
pub struct SearchOutcome {
    /// The hits, best first.
    pub hits: Vec<ExplainedHit>,
    /// Whether there are more hits than the limit.
    pub has_more: bool,
    /// Whether the hits are ranked. If there was no time, they are sorted newest first.
    pub is_ranked: bool,
    /// Whether every document was checked for changes. If not, an in-place edit may be missing.
    pub is_complete: bool,
    /// The files that could not be read.
    pub unread: Vec<FileError>,
}

/// Searches handoffs by words. `progress` gets the number of documents read and their total.
pub fn search(
    store: &Store,
    wanted: &SearchRequest,
    progress: &mut dyn FnMut(usize, usize),
) -> SearchOutcome {
    let workspace = store.workspace();
    let ask = |index: &mut Index| search_index(workspace, index, wanted, progress);
    let found = store.with_index(ask);
    found.unwrap_or_else(|| search_files(workspace, wanted))
}

fn search_index(
    workspace: &Workspace,
    index: &mut Index,
    wanted: &SearchRequest,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<SearchOutcome, IndexError> {
    let effort = if wanted.fresh { Effort::Fresh } else { Effort::Command };
    let freshness = index.refresh(workspace, effort, RefreshLimit::default(), progress)?;
    let SearchRequest { query, filter, limit, .. } = wanted;
    let few = index.documents()? <= FEW_DOCUMENTS;
    let time = if few { RANKED_FEW_TIMEOUT } else { RANKED_TIMEOUT };
    for _ in 0..TRIES_MAX {
        let hits = match index.find(workspace, query, filter, limit + 1, time) {
            Err(IndexError::TimedOut) => {
                let hits = newest_hits(workspace, index, wanted)?;
                let found = SearchOutcome { is_ranked: false, ..limit_hits(wanted, hits) };
                return Ok(SearchOutcome {
                    is_complete: freshness.is_complete,
                    unread: freshness.unread,
                    ..found
                });
            }
            hits => hits?,
        };
        let (hits, stale) = reread_hits(workspace, wanted, hits);
        if stale.is_empty() {
            let found = limit_hits(wanted, hits);
            return Ok(SearchOutcome {
                is_complete: freshness.is_complete,
                unread: freshness.unread,
                ..found
            });
        }
        index.reread(workspace, stale)?;
    }
    Err(IndexError::TimedOut)
}

/// Reads the hits again. Returns the current ones, and the places where the index is stale.
fn reread_hits(
    workspace: &Workspace,
    wanted: &SearchRequest,
    hits: Vec<DocumentHit>,
) -> (Vec<ExplainedHit>, Vec<DocumentPlace>) {
    let mut read = Vec::new();
    let mut stale = Vec::new();
    for found in hits {
        let now = workspace.read(&found.spot).ok().and_then(|now| explain(workspace, wanted, now));
        match now {
            Some((hit, explained)) if hit == found => read.push(explained),
            Some(_) | None => stale.push(found.spot),
        }
    }
    (read, stale)
}

/// Matches a document, and explains the match.
fn explain(
    workspace: &Workspace,
    wanted: &SearchRequest,
    stored: StoredHandoff,
) -> Option<(DocumentHit, ExplainedHit)> {
    let parts = handoff_texts(&stored.handoff(workspace));
    let hit = match_document(workspace, &wanted.query, &wanted.filter, &stored, &parts)?;
    let terms: Vec<&SearchTerm> = wanted.query.terms().iter().collect();
    let why = match_excerpts(&terms, &parts);
    Some((hit, ExplainedHit { stored, why }))
}

/// The newest matching documents, as many as the time limit permits.
fn newest_hits(
    workspace: &Workspace,
    index: &Index,
    wanted: &SearchRequest,
) -> Result<Vec<ExplainedHit>, IndexError> {
    let deadline = Deadline::after(UNRANKED_TIMEOUT);
    let mut hits = Vec::new();
    index.newest(workspace, |place, _| {
        let now = workspace.read(&place).ok().and_then(|now| explain(workspace, wanted, now));
        hits.extend(now.map(|(_, explained)| explained));
        hits.len() <= wanted.limit && !deadline.has_passed()
    })?;
    Ok(hits)
}

fn search_files(workspace: &Workspace, wanted: &SearchRequest) -> SearchOutcome {
    let (hits, unread) = scan(workspace, &wanted.query, &wanted.filter);
    let first = hits.iter().take(wanted.limit + 1).filter_map(|hit| workspace.read(&hit.spot).ok());
    let read = first.filter_map(|now| explain(workspace, wanted, now));
    SearchOutcome { unread, ..limit_hits(wanted, read.map(|(_, explained)| explained).collect()) }
}

/// Truncates the hits to the limit.
fn limit_hits(wanted: &SearchRequest, mut hits: Vec<ExplainedHit>) -> SearchOutcome {
    let more = hits.len() > wanted.limit;
    hits.truncate(wanted.limit);
    SearchOutcome { hits, has_more: more, is_ranked: true, is_complete: true, unread: Vec::new() }
}

/// What the user is about to work on.
#[derive(Clone, Debug)]
pub struct PromptSearch {
    /// The prompt.
    pub text: String,
    /// The files being worked on.
    pub files: Vec<PathBuf>,
    /// The maximum number of handoffs.
    pub limit: usize,
    /// How long the search may take.
    pub timeout: Duration,
    /// How thoroughly to check the files for changes first.
    pub effort: Effort,
}

/// A handoff that is relevant to a prompt.
#[derive(Debug)]
pub struct RelevantHandoff {
    /// The document as it is now.
    pub stored: StoredHandoff,
    /// How relevant it is.
    pub relevance: Relevance,
    /// The matching texts.
    pub why: Vec<MatchExcerpt>,
}

/// The relevant handoffs.
#[derive(Debug)]
pub struct RelevantHandoffs {
    /// The hits, most relevant first.
    pub hits: Vec<RelevantHandoff>,
    /// Whether all documents were searched in time.
    pub is_complete: bool,
    /// Whether the index still has to be finished.
    pub is_index_incomplete: bool,
}

/// Finds the handoffs relevant to a prompt; often there are none. A handoff the prompt names by
/// path, file name or id comes first. Starts no process.
pub fn search_prompt(store: &Store, prompt: &PromptSearch) -> RelevantHandoffs {
    let workspace = store.workspace();
    let deadline = Deadline::after(prompt.timeout);
    let named = find_named(workspace, &prompt.text);
    let mut relevant = search_words(store, prompt, deadline);
    let is_named =
        |hit: &RelevantHandoff| named.iter().any(|one| one.stored.path == hit.stored.path);
    relevant.hits.retain(|hit| !is_named(hit));
    relevant.hits.splice(..0, named);
    relevant.hits.truncate(prompt.limit);
    relevant
}

/// The documents a prompt names.
fn find_named(workspace: &Workspace, prompt: &str) -> Vec<RelevantHandoff> {
    let mut found: Vec<RelevantHandoff> = Vec::new();
    // Listing all documents is slow, so it happens once, and only if the prompt names a file.
    let mut places: Option<Vec<DocumentPlace>> = None;
    let mut by_end = |name: &str| {
        let places = places
            .get_or_insert_with(|| workspace.document_places().into_iter().flatten().collect());
        workspace.place_ending_with(name, places)
    };
    for name in candidate_names(prompt) {
        let is_file = files::is_markdown(Path::new(name));
        let place =
            workspace.place_named(name).or_else(|| if is_file { by_end(name) } else { None });
        let Some(place) = place else { continue };
        let Ok(stored) = workspace.read(&place) else { continue };
        if found.iter().any(|one| one.stored.path == stored.path) {
            continue;
        }
        let terms: Vec<SearchTerm> = SearchTerm::from_text(name).into_iter().collect();
        let terms: Vec<&SearchTerm> = terms.iter().collect();
        let why = match_excerpts(&terms, &handoff_texts(&stored.handoff(workspace)));
        found.push(RelevantHandoff { stored, relevance: Relevance::for_named_document(), why });
    }
    found
}

fn search_words(store: &Store, prompt: &PromptSearch, deadline: Deadline) -> RelevantHandoffs {
    let workspace = store.workspace();
    let looked_for = terms_of_prompt(workspace, prompt);
    if looked_for.is_empty() {
        return RelevantHandoffs {
            hits: Vec::new(),
            is_complete: true,
            is_index_incomplete: false,
        };
    }
    let terms: Vec<&SearchTerm> = looked_for.iter().map(|salient| &salient.term).collect();
    let mut is_index_left = false;
    let asked = store.with_index(|index| {
        let freshness =
            index.refresh(workspace, prompt.effort, RefreshLimit::default(), &mut |_, _| ())?;
        is_index_left = freshness.is_cut_short;
        let whole = freshness.is_complete;
        let documents = index.documents()?;
        match index.find_terms(&terms, common_threshold(documents), deadline.remaining()) {
            // There is no time left to read the documents one by one either.
            Err(IndexError::TimedOut) => Ok(None),
            hits => {
                let scored = TermScores::new(&looked_for, hits?, documents);
                let card = |id| index.card(workspace, id).ok().flatten();
                Ok(Some((scored.best(workspace, prompt.limit, card), scored, whole)))
            }
        }
    });
    let read = || {
        let scanned = scan_terms(workspace, &terms, common_threshold, deadline);
        let scored = TermScores::new(&looked_for, scanned.hits, scanned.cards.len());
        let card = |id| scanned.cards.get(usize::try_from(id).ok()?).cloned();
        Some((scored.best(workspace, prompt.limit, card), scored, scanned.is_complete))
    };
    let Some((best, scored, complete)) = asked.unwrap_or_else(read) else {
        return RelevantHandoffs {
            hits: Vec::new(),
            is_complete: false,
            is_index_incomplete: is_index_left,
        };
    };
    let hits = best.iter().filter_map(|place| scored.relevant_handoff(workspace, place)).collect();
    RelevantHandoffs { hits, is_complete: complete, is_index_incomplete: is_index_left }
}

fn terms_of_prompt(workspace: &Workspace, prompt: &PromptSearch) -> Vec<SalientTerm> {
    let shown = |path: &PathBuf| {
        let place = workspace.place_of_path(path);
        place.map_or_else(|| path.clone(), |place| workspace.display_path(&place))
    };
    let files = prompt
        .files
        .iter()
        .filter_map(|path| SalientTerm::from_path(&shown(path).to_string_lossy()));
    let mut all: Vec<SalientTerm> = files.chain(salient_terms(&prompt.text)).collect();
    let mut seen = std::collections::HashSet::new();
    all.retain(|salient| seen.insert(salient.term.clone()));
    all
}

/// The search terms, and which documents contain them.
struct TermScores {
    terms: Vec<(ScoredTerm, TermHits)>,
    documents: usize,
}

impl TermScores {
    fn new(looked_for: &[SalientTerm], hits: Vec<TermHits>, documents: usize) -> Self {
        let scored = |(salient, hits): (&SalientTerm, TermHits)| {
            (ScoredTerm { salient: salient.clone(), documents: hits.documents }, hits)
        };
        Self { terms: looked_for.iter().zip(hits).map(scored).collect(), documents }
    }

    /// The places of the most relevant documents.
    fn best(
        &self,
        workspace: &Workspace,
        limit: usize,
        card: impl Fn(i64) -> Option<(DocumentPlace, IndexCard)>,
    ) -> Vec<DocumentPlace> {
        let now = workspace.environment().clock.now();
        let mut sums: HashMap<i64, (f64, f64)> = HashMap::new();
        for (term, hits) in &self.terms {
            for (id, zone) in &hits.zones {
                add_scores(sums.entry(*id).or_default(), term_points(term, *zone, self.documents));
            }
        }
        sums.retain(|_, sum| Relevance::is_enough(*sum));
        let score = |(id, sum): (i64, (f64, f64))| {
            let (place, card) = card(id)?;
            let changed = card.changed.and_then(|second| Timestamp::from_second(second).ok());
            let relevance = Relevance::from_points(sum, card.status.is_open(), changed, now)?;
            Some((relevance.score(), workspace.display_path(&place), place))
        };
        let mut scores: Vec<_> = sums.into_iter().filter_map(score).collect();
        scores.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        scores.into_iter().take(limit).map(|(_, _, place)| place).collect()
    }

    /// The document in its current state, if it is still relevant.
    fn relevant_handoff(
        &self,
        workspace: &Workspace,
        place: &DocumentPlace,
    ) -> Option<RelevantHandoff> {
        let stored = workspace.read(place).ok()?;
        let handoff = stored.handoff(workspace);
        let parts = handoff_texts(&handoff);
        let mut sum = (0.0, 0.0);
        let mut there = Vec::new();
        for (term, _) in &self.terms {
            let Some(zone) = term_zone(&term.salient.term, &parts) else { continue };
            let items = term_points(term, zone, self.documents);
            add_scores(&mut sum, items);
            if items != (0.0, 0.0) {
                there.push(&term.salient.term);
            }
        }
        let changed = handoff.changed().map(|time| time.moment);
        let now = workspace.environment().clock.now();
        let relevance = Relevance::from_points(sum, handoff.status().is_open(), changed, now)?;
        let why = match_excerpts(&there, &parts);
        Some(RelevantHandoff { stored, relevance, why })
    }
}

fn add_scores(sum: &mut (f64, f64), items: (f64, f64)) {
    sum.0 += items.0;
    sum.1 += items.1;
}
