//! Renders search results and why they matched.

use super::{Surface, display_path, display_title, one_line, sanitize, table};
use crate::json::JsonAnswer;
use midstride::verbs::{
    ExplainedHit, FoundSession, RelevantHandoff, RelevantHandoffs, SearchOutcome,
};
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_core::brief::search::{MatchExcerpt, PREFIX_LENGTH_MIN};
use midstride_core::text::id::SessionId;
use midstride_core::text::time;
use serde::Serialize;

/// The handoffs and sessions that match a query.
#[derive(Serialize)]
pub struct SearchResultsJson {
    hits: Vec<SearchHitJson>,
    sessions: Vec<FoundSessionJson>,
    more: bool,
    ranked: bool,
    complete: bool,
}

impl JsonAnswer for SearchResultsJson {
    const SCHEMA: &'static str = "search/1";
}

/// The handoffs that are relevant to a prompt.
#[derive(Serialize)]
pub struct RelevantHandoffsJson {
    hits: Vec<SearchHitJson>,
    complete: bool,
}

impl JsonAnswer for RelevantHandoffsJson {
    const SCHEMA: &'static str = "relevant-handoffs/1";
}

#[derive(Serialize)]
struct SearchHitJson {
    key: String,
    uid: Option<String>,
    title: Option<String>,
    kind: String,
    stage: Option<String>,
    status: String,
    changed: Option<String>,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance: Option<RelevanceJson>,
    why: Vec<MatchExcerptJson>,
}

#[derive(Serialize)]
struct FoundSessionJson {
    client: String,
    session: SessionId,
    ended: Option<String>,
    why: Vec<MatchExcerptJson>,
}

#[derive(Serialize)]
struct RelevanceJson {
    score: f64,
    words: f64,
    files: f64,
    status: f64,
    recency: f64,
}

#[derive(Serialize)]
struct MatchExcerptJson {
    field: String,
    excerpt: String,
    /// Byte ranges of the excerpt to highlight.
    marks: Vec<[usize; 2]>,
}

/// The JSON for the results of a query.
pub fn json(
    workspace: &Workspace,
    found: &SearchOutcome,
    sessions: &[FoundSession],
) -> SearchResultsJson {
    let hits = found.hits.iter().map(|hit| hit_json(workspace, &hit.stored, &hit.why));
    SearchResultsJson {
        hits: hits.collect(),
        sessions: sessions.iter().map(session_json).collect(),
        more: found.has_more,
        ranked: found.is_ranked,
        complete: found.is_complete,
    }
}

/// The JSON for the handoffs that are relevant to a prompt.
pub fn relevant_json(workspace: &Workspace, matters: &RelevantHandoffs) -> RelevantHandoffsJson {
    let hit = |matter: &RelevantHandoff| SearchHitJson {
        relevance: Some(relevance_json(matter)),
        ..hit_json(workspace, &matter.stored, &matter.why)
    };
    RelevantHandoffsJson {
        hits: matters.hits.iter().map(hit).collect(),
        complete: matters.is_complete,
    }
}

fn relevance_json(matter: &RelevantHandoff) -> RelevanceJson {
    // Three decimals are enough.
    let short = |number: f64| (number * 1000.0).round() / 1000.0;
    let relevance = &matter.relevance;
    RelevanceJson {
        score: short(relevance.score()),
        words: short(relevance.words),
        files: short(relevance.files),
        status: short(relevance.status),
        recency: short(relevance.recency),
    }
}

fn hit_json(workspace: &Workspace, stored: &StoredHandoff, why: &[MatchExcerpt]) -> SearchHitJson {
    let handoff = stored.handoff(workspace);
    let owned = |text: Option<&str>| text.map(str::to_owned);
    SearchHitJson {
        key: handoff.key().to_string(),
        uid: owned(handoff.written_uid().map(|uid| uid.value)),
        title: owned(handoff.title()),
        kind: handoff.kind().to_string(),
        stage: owned(handoff.stage()),
        status: status_word(workspace, stored),
        changed: handoff.changed().map(|changed| time::format_time(changed.moment)),
        path: stored.path.display().to_string(),
        relevance: None,
        why: why.iter().map(match_excerpt_json).collect(),
    }
}

fn match_excerpt_json(why: &MatchExcerpt) -> MatchExcerptJson {
    MatchExcerptJson {
        field: why.field.clone(),
        excerpt: why.excerpt.clone(),
        marks: why.marks.iter().map(|mark| [mark.start, mark.end]).collect(),
    }
}

fn session_json(found: &FoundSession) -> FoundSessionJson {
    FoundSessionJson {
        client: found.client.to_string(),
        session: found.session.clone(),
        ended: found.ended.map(time::format_time),
        why: found.why.iter().map(match_excerpt_json).collect(),
    }
}

/// A captured session in the results.
pub fn session_text(found: &FoundSession) -> String {
    let bold = anstyle::Style::new().bold();
    let dim = anstyle::Style::new().dimmed();
    let id = one_line(found.session.as_str(), usize::MAX);
    let day = found.ended.map(|ended| format!("  {}", ended.strftime("%Y-%m-%d %H:%M")));
    let day = day.unwrap_or_default();
    let mut out = format!("{bold}session {id}{bold:#}  {}{day}\n", found.client);
    for why in &found.why {
        out.push_str(&format!(
            "  {dim}{}:{dim:#} {}\n",
            sanitize(&why.field),
            highlight_excerpt(why)
        ));
    }
    out
}

fn status_word(workspace: &Workspace, stored: &StoredHandoff) -> String {
    let handoff = stored.handoff(workspace);
    if handoff.has_status() { handoff.status().to_string() } else { "note".to_owned() }
}

/// The results of a query: handoffs first, then sessions.
pub fn text(
    workspace: &Workspace,
    found: &SearchOutcome,
    sessions: &[FoundSession],
    terminal: Option<usize>,
) -> String {
    let hits = found.hits.iter().map(|hit| search_hit_text(workspace, hit, terminal));
    hits.chain(sessions.iter().map(session_text)).collect::<Vec<_>>().join("\n")
}

/// A handoff in the results.
pub fn search_hit_text(
    workspace: &Workspace,
    hit: &ExplainedHit,
    terminal: Option<usize>,
) -> String {
    hit_text(workspace, &hit.stored, &hit.why, terminal)
}

/// The handoffs that are relevant to a prompt.
pub fn relevant_text(
    workspace: &Workspace,
    matters: &RelevantHandoffs,
    terminal: Option<usize>,
) -> String {
    let hit = |matter: &RelevantHandoff| hit_text(workspace, &matter.stored, &matter.why, terminal);
    matters.hits.iter().map(hit).collect::<Vec<_>>().join("\n")
}

fn hit_text(
    workspace: &Workspace,
    stored: &StoredHandoff,
    why: &[MatchExcerpt],
    terminal: Option<usize>,
) -> String {
    let handoff = stored.handoff(workspace);
    let bold = anstyle::Style::new().bold();
    let dim = anstyle::Style::new().dimmed();
    let status = status_word(workspace, stored);
    let width = table::line_width(terminal).saturating_sub(status.len() + 2 * table::COLUMN_GAP);
    let key = one_line(&handoff.key().to_string(), table::first_width_max(width));
    let title = display_title(&handoff, width.saturating_sub(key.len()));
    let mut out = format!("{bold}{key}{bold:#}  {status}  {title}\n");
    for why in why {
        out.push_str(&format!(
            "  {dim}{}:{dim:#} {}\n",
            sanitize(&why.field),
            highlight_excerpt(why)
        ));
    }
    out.push_str(&format!("  {dim}{}{dim:#}\n", sanitize(&display_path(workspace, &stored.path))));
    out
}

/// The excerpt with the matched words highlighted.
fn highlight_excerpt(why: &MatchExcerpt) -> String {
    let style = anstyle::AnsiColor::Yellow.on_default().bold();
    let mut out = if why.truncated.0 { "… ".to_owned() } else { String::new() };
    let mut from = 0;
    for mark in &why.marks {
        out.push_str(&sanitize(&why.excerpt[from..mark.start]));
        out.push_str(&format!("{style}{}{style:#}", sanitize(mark.slice(&why.excerpt))));
        from = mark.end;
    }
    out.push_str(&sanitize(&why.excerpt[from..]));
    if why.truncated.1 {
        out.push_str(" …");
    }
    out
}

/// Remarks about the results.
pub fn remarks(
    found: &SearchOutcome,
    has_sessions: bool,
    words: &[String],
    has_filter: bool,
    surface: Surface,
) -> Vec<String> {
    let mut lines = Vec::new();
    if found.hits.is_empty() && found.is_ranked && !has_sessions {
        lines.push("No matching handoff or captured session.".to_owned());
        lines.push(search_suggestion(words, has_filter, surface));
    }
    if found.has_more && surface == Surface::Terminal {
        lines.push("There are more matches; raise `--limit` to see them".to_owned());
    }
    if !found.is_ranked {
        lines.push(
            "These words are too common to rank in time, so only the newest handoffs were searched, and matches are sorted by age. Add a word to narrow the search"
                .to_owned(),
        );
    }
    if !found.is_complete {
        let unseen = "Files that an editor changed in place may not be indexed yet";
        lines.push(match surface {
            Surface::Terminal => format!("{unseen}; `--fresh` checks all files"),
            Surface::Tools => unseen.to_owned(),
        });
    }
    lines
}

/// Suggests another search.
fn search_suggestion(words: &[String], has_filter: bool, surface: Surface) -> String {
    let typed = words.join(" ").replace('"', "");
    let single: Vec<&str> = typed.split_whitespace().collect();
    if has_filter {
        return "Try without the filter".to_owned();
    }
    match single.as_slice() {
        [one] if !one.ends_with('*') && one.chars().count() >= PREFIX_LENGTH_MIN => {
            let begin = format!("{one}*");
            match surface {
                Surface::Terminal => {
                    let begin = super::shell_word(&begin);
                    format!("Try words that start with it: midstride search {begin}")
                }
                Surface::Tools => format!("Try words that start with it: `{}`", sanitize(&begin)),
            }
        }
        [_, _, ..] => "Try fewer words: every word must match".to_owned(),
        [_] | [] => match surface {
            Surface::Terminal => "`midstride list --all` lists all handoffs".to_owned(),
            Surface::Tools => "`brief` shows what is open".to_owned(),
        },
    }
}
