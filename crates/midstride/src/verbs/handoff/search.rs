//! Find handoffs: by words, or by what somebody is about to work on.

use crate::store::index::{
    Card, Effort, Filter, Hit, Index, IndexError, Limit, TermHits, hit, scan, scan_terms,
};
use crate::store::ledger::Patience;
use crate::sys::clock::Deadline;
use crate::sys::files::{self, FileError};
use crate::workspace::project::{Project, SetUp, Shelved, Spot};
use jiff::Timestamp;
use midstride_core::brief::search::{
    MatchExcerpt, Query, Relevance, ScoredTerm, candidate_names, common_threshold, handoff_texts,
    match_excerpts, term_points, term_zone,
};
use midstride_core::text::words::{SalientTerm, SearchTerm, salient_terms};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A query that takes longer is answered without ranking.
const RANKED_WITHIN: Duration = Duration::from_millis(100);
/// Among so few documents no query takes long, however busy the machine is.
const FEW: usize = 10_000;
/// So only something that stands still is given up there.
const RANKED_AMONG_FEW_WITHIN: Duration = Duration::from_secs(10);
/// How long newer documents are read one by one then.
const UNRANKED_WITHIN: Duration = Duration::from_millis(100);
/// How long a prompt may take where a client waits for its hook.
pub const HOOK_WITHIN: Duration = Duration::from_millis(50);
/// Documents that change while they are looked for are looked at so often.
const TRIES_MAX: usize = 5;

/// What to find.
#[derive(Clone, Debug)]
pub struct Search {
    /// The words.
    pub query: Query,
    /// What else has to hold.
    pub filter: Filter,
    /// How many at most.
    pub limit: usize,
    /// Whether every document is looked at, however many there are.
    pub fresh: bool,
}

/// A handoff that was found, and why.
#[derive(Debug)]
pub struct Explained {
    /// The document as it is now.
    pub shelved: Shelved,
    /// The texts that have the words.
    pub why: Vec<MatchExcerpt>,
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// The best first.
    pub hits: Vec<Explained>,
    /// Whether there are more than were wanted.
    pub more: bool,
    /// Whether the best come first; otherwise there was no time, and the newest do.
    pub ranked: bool,
    /// Whether every document was looked at; otherwise an edit made in place may be missing.
    pub whole: bool,
    /// What could not be read.
    pub unread: Vec<FileError>,
}

/// Finds handoffs by words. Whoever waits is told how many of how many documents were read.
pub fn search(project: &Project, wanted: &Search, progress: &mut dyn FnMut(usize, usize)) -> Found {
    let ask = |index: &mut Index| by_index(project, index, wanted, progress);
    let found = with_index(project, Patience::Command, ask);
    found.unwrap_or_else(|| by_reading(project, wanted))
}

/// Asks the index; one that turns out to be damaged is made anew. Nothing where it cannot be used,
/// or where the project was never set up: then nothing is written either.
pub(in crate::verbs) fn with_index<T>(
    project: &Project,
    patience: Patience,
    mut ask: impl FnMut(&mut Index) -> Result<T, IndexError>,
) -> Option<T> {
    if project.set_up() == SetUp::Not {
        return None;
    }
    let mut index = Index::open(project, patience).ok()?;
    match ask(&mut index) {
        Err(error) if error.is_damage() => {
            drop(index);
            ask(&mut Index::open_empty(project, patience).ok()?).ok()
        }
        answer => answer.ok(),
    }
}

fn by_index(
    project: &Project,
    index: &mut Index,
    wanted: &Search,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Found, IndexError> {
    let effort = if wanted.fresh { Effort::Fresh } else { Effort::Command };
    let freshness = index.refresh(project, effort, Limit::default(), progress)?;
    let Search { query, filter, limit, .. } = wanted;
    let few = index.documents()? <= FEW;
    let time = if few { RANKED_AMONG_FEW_WITHIN } else { RANKED_WITHIN };
    for _ in 0..TRIES_MAX {
        let hits = match index.find(project, query, filter, limit + 1, time) {
            Err(IndexError::Late) => {
                let hits = newest(project, index, wanted)?;
                let found = Found { ranked: false, ..told(wanted, hits) };
                return Ok(Found { whole: freshness.whole, unread: freshness.unread, ..found });
            }
            hits => hits?,
        };
        let (hits, stale) = as_they_are(project, wanted, hits);
        if stale.is_empty() {
            let found = told(wanted, hits);
            return Ok(Found { whole: freshness.whole, unread: freshness.unread, ..found });
        }
        index.read_again(project, stale)?;
    }
    Err(IndexError::Late)
}

/// The documents as they are now, and those that the index has otherwise.
fn as_they_are(project: &Project, wanted: &Search, hits: Vec<Hit>) -> (Vec<Explained>, Vec<Spot>) {
    let mut read = Vec::new();
    let mut stale = Vec::new();
    for found in hits {
        let now = project.read(&found.spot).ok().and_then(|now| explained(project, wanted, now));
        match now {
            Some((hit, explained)) if hit == found => read.push(explained),
            Some(_) | None => stale.push(found.spot),
        }
    }
    (read, stale)
}

/// A document as a hit with why, if it is one.
fn explained(project: &Project, wanted: &Search, shelved: Shelved) -> Option<(Hit, Explained)> {
    let parts = handoff_texts(&shelved.handoff(project));
    let hit = hit(project, &wanted.query, &wanted.filter, &shelved, &parts)?;
    let terms: Vec<&SearchTerm> = wanted.query.terms().iter().collect();
    let why = match_excerpts(&terms, &parts);
    Some((hit, Explained { shelved, why }))
}

/// The newest documents that have the words, as far as there is time.
fn newest(project: &Project, index: &Index, wanted: &Search) -> Result<Vec<Explained>, IndexError> {
    let deadline = Deadline::after(UNRANKED_WITHIN);
    let mut hits = Vec::new();
    index.newest(project, |spot, _| {
        let now = project.read(&spot).ok().and_then(|now| explained(project, wanted, now));
        hits.extend(now.map(|(_, explained)| explained));
        hits.len() <= wanted.limit && !deadline.is_over()
    })?;
    Ok(hits)
}

fn by_reading(project: &Project, wanted: &Search) -> Found {
    let (hits, unread) = scan(project, &wanted.query, &wanted.filter);
    let first = hits.iter().take(wanted.limit + 1).filter_map(|hit| project.read(&hit.spot).ok());
    let read = first.filter_map(|now| explained(project, wanted, now));
    Found { unread, ..told(wanted, read.map(|(_, explained)| explained).collect()) }
}

/// At most as many as were wanted.
fn told(wanted: &Search, mut hits: Vec<Explained>) -> Found {
    let more = hits.len() > wanted.limit;
    hits.truncate(wanted.limit);
    Found { hits, more, ranked: true, whole: true, unread: Vec::new() }
}

/// What somebody is about to work on.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// What was asked for.
    pub text: String,
    /// Files that are worked on.
    pub files: Vec<PathBuf>,
    /// How many handoffs at most.
    pub limit: usize,
    /// How long it may take to look for them.
    pub within: Duration,
    /// How closely to look at the files before.
    pub effort: Effort,
}

/// A handoff that matters for it.
#[derive(Debug)]
pub struct Matter {
    /// The document as it is now.
    pub shelved: Shelved,
    /// How much it matters.
    pub relevance: Relevance,
    /// The texts that have the words.
    pub why: Vec<MatchExcerpt>,
}

/// The handoffs that matter.
#[derive(Debug)]
pub struct Matters {
    /// What matters most comes first.
    pub hits: Vec<Matter>,
    /// Whether all documents were looked at in time.
    pub complete: bool,
    /// Whether the index waits to be finished.
    pub is_index_left: bool,
}

/// Finds the handoffs that matter for a prompt; often there is none. One that the prompt names by
/// its path, file name or id comes first. Starts no process.
pub fn search_prompt(project: &Project, prompt: &Prompt) -> Matters {
    let deadline = Deadline::after(prompt.within);
    let named = named(project, &prompt.text);
    let mut matters = search_words(project, prompt, deadline);
    let is_named =
        |matter: &Matter| named.iter().any(|one| one.shelved.path == matter.shelved.path);
    matters.hits.retain(|matter| !is_named(matter));
    matters.hits.splice(..0, named);
    matters.hits.truncate(prompt.limit);
    matters
}

/// The documents that a prompt names.
fn named(project: &Project, prompt: &str) -> Vec<Matter> {
    let mut found: Vec<Matter> = Vec::new();
    // Listing all documents costs time, so it is done once, and only where a file is named.
    let mut spots: Option<Vec<Spot>> = None;
    let mut by_end = |name: &str| {
        let spots = spots.get_or_insert_with(|| project.spots().into_iter().flatten().collect());
        project.spot_ending(name, spots)
    };
    for name in candidate_names(prompt) {
        let is_file = files::is_markdown(Path::new(name));
        let spot = project.spot_named(name).or_else(|| if is_file { by_end(name) } else { None });
        let Some(spot) = spot else { continue };
        let Ok(shelved) = project.read(&spot) else { continue };
        if found.iter().any(|one| one.shelved.path == shelved.path) {
            continue;
        }
        let terms: Vec<SearchTerm> = SearchTerm::from_text(name).into_iter().collect();
        let terms: Vec<&SearchTerm> = terms.iter().collect();
        let why = match_excerpts(&terms, &handoff_texts(&shelved.handoff(project)));
        found.push(Matter { shelved, relevance: Relevance::for_named_document(), why });
    }
    found
}

fn search_words(project: &Project, prompt: &Prompt, deadline: Deadline) -> Matters {
    let looked_for = looked_for(project, prompt);
    if looked_for.is_empty() {
        return Matters { hits: Vec::new(), complete: true, is_index_left: false };
    }
    let terms: Vec<&SearchTerm> = looked_for.iter().map(|salient| &salient.term).collect();
    let patience = match prompt.effort {
        Effort::Prompt | Effort::Open => Patience::Hook,
        Effort::Command | Effort::Fresh | Effort::Hurried => Patience::Command,
    };
    let mut is_index_left = false;
    let asked = with_index(project, patience, |index| {
        let freshness = index.refresh(project, prompt.effort, Limit::default(), &mut |_, _| ())?;
        is_index_left = freshness.is_cut_short;
        let whole = freshness.whole;
        let documents = index.documents()?;
        match index.find_terms(&terms, common_threshold(documents), deadline.left()) {
            // Who reads the documents one by one has no time left either.
            Err(IndexError::Late) => Ok(None),
            hits => {
                let scored = Scored::new(&looked_for, hits?, documents);
                let card = |id| index.card(project, id).ok().flatten();
                Ok(Some((scored.best(project, prompt.limit, card), scored, whole)))
            }
        }
    });
    let read = || {
        let scanned = scan_terms(project, &terms, common_threshold, deadline);
        let scored = Scored::new(&looked_for, scanned.hits, scanned.cards.len());
        let card = |id| scanned.cards.get(usize::try_from(id).ok()?).cloned();
        Some((scored.best(project, prompt.limit, card), scored, scanned.whole))
    };
    let Some((best, scored, complete)) = asked.unwrap_or_else(read) else {
        return Matters { hits: Vec::new(), complete: false, is_index_left };
    };
    let hits = best.iter().filter_map(|spot| scored.matter(project, spot)).collect();
    Matters { hits, complete, is_index_left }
}

fn looked_for(project: &Project, prompt: &Prompt) -> Vec<SalientTerm> {
    let shown = |path: &PathBuf| {
        let spot = project.spot_of_path(path);
        spot.map_or_else(|| path.clone(), |spot| project.shown(&spot))
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

/// What is looked for, and which documents have it.
struct Scored {
    terms: Vec<(ScoredTerm, TermHits)>,
    documents: usize,
}

impl Scored {
    fn new(looked_for: &[SalientTerm], hits: Vec<TermHits>, documents: usize) -> Self {
        let scored = |(salient, hits): (&SalientTerm, TermHits)| {
            (ScoredTerm { salient: salient.clone(), documents: hits.documents }, hits)
        };
        Self { terms: looked_for.iter().zip(hits).map(scored).collect(), documents }
    }

    /// The places of what matters most.
    fn best(
        &self,
        project: &Project,
        limit: usize,
        card: impl Fn(i64) -> Option<(Spot, Card)>,
    ) -> Vec<Spot> {
        let now = project.environment().clock.now();
        let mut sums: HashMap<i64, (f64, f64)> = HashMap::new();
        for (term, hits) in &self.terms {
            for (id, zone) in &hits.zones {
                add(sums.entry(*id).or_default(), term_points(term, *zone, self.documents));
            }
        }
        sums.retain(|_, sum| Relevance::is_enough(*sum));
        let score = |(id, sum): (i64, (f64, f64))| {
            let (spot, card) = card(id)?;
            let changed = card.changed.and_then(|second| Timestamp::from_second(second).ok());
            let relevance = Relevance::from_points(sum, card.status.is_open(), changed, now)?;
            Some((relevance.score(), project.shown(&spot), spot))
        };
        let mut scores: Vec<_> = sums.into_iter().filter_map(score).collect();
        scores.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        scores.into_iter().take(limit).map(|(_, _, spot)| spot).collect()
    }

    /// A document as it is now, if it still matters.
    fn matter(&self, project: &Project, spot: &Spot) -> Option<Matter> {
        let shelved = project.read(spot).ok()?;
        let handoff = shelved.handoff(project);
        let parts = handoff_texts(&handoff);
        let mut sum = (0.0, 0.0);
        let mut there = Vec::new();
        for (term, _) in &self.terms {
            let Some(zone) = term_zone(&term.salient.term, &parts) else { continue };
            let points = term_points(term, zone, self.documents);
            add(&mut sum, points);
            if points != (0.0, 0.0) {
                there.push(&term.salient.term);
            }
        }
        let changed = handoff.changed().map(|time| time.moment);
        let now = project.environment().clock.now();
        let relevance = Relevance::from_points(sum, handoff.status().is_open(), changed, now)?;
        let why = match_excerpts(&there, &parts);
        Some(Matter { shelved, relevance, why })
    }
}

fn add(sum: &mut (f64, f64), points: (f64, f64)) {
    sum.0 += points.0;
    sum.1 += points.1;
}
