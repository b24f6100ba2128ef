//! What a search found, and why.

use super::{Surface, called, one_line, shown_path, table, tame};
use midstride::verbs::{Explained, Found, FoundSession, Matter, Matters};
use midstride::workspace::project::{Project, Shelved};
use midstride_core::brief::search::{MatchExcerpt, PREFIX_LENGTH_MIN};
use midstride_core::text::time;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct FoundJson {
    hits: Vec<HitJson>,
    sessions: Vec<SessionJson>,
    more: bool,
    ranked: bool,
    complete: bool,
}

#[derive(Serialize)]
pub(crate) struct MattersJson {
    hits: Vec<HitJson>,
    complete: bool,
}

#[derive(Serialize)]
struct HitJson {
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
    why: Vec<WhyJson>,
}

#[derive(Serialize)]
struct SessionJson {
    client: &'static str,
    session: String,
    ended: Option<String>,
    why: Vec<WhyJson>,
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
struct WhyJson {
    field: String,
    excerpt: String,
    /// Bytes of the excerpt, from and to.
    marks: Vec<[usize; 2]>,
}

pub(crate) fn json(project: &Project, found: &Found, sessions: &[FoundSession]) -> FoundJson {
    let hits = found.hits.iter().map(|hit| hit_json(project, &hit.shelved, &hit.why));
    FoundJson {
        hits: hits.collect(),
        sessions: sessions.iter().map(session_json).collect(),
        more: found.more,
        ranked: found.ranked,
        complete: found.whole,
    }
}

pub(crate) fn matters_json(project: &Project, matters: &Matters) -> MattersJson {
    let hit = |matter: &Matter| HitJson {
        relevance: Some(relevance(matter)),
        ..hit_json(project, &matter.shelved, &matter.why)
    };
    MattersJson { hits: matters.hits.iter().map(hit).collect(), complete: matters.complete }
}

fn relevance(matter: &Matter) -> RelevanceJson {
    // More digits say nothing more.
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

fn hit_json(project: &Project, shelved: &Shelved, why: &[MatchExcerpt]) -> HitJson {
    let handoff = shelved.handoff(project);
    let owned = |text: Option<&str>| text.map(str::to_owned);
    HitJson {
        key: handoff.key().to_string(),
        uid: owned(handoff.uid().map(|uid| uid.value)),
        title: owned(handoff.title()),
        kind: handoff.kind().to_string(),
        stage: owned(handoff.stage()),
        status: status(project, shelved),
        changed: handoff.changed().map(|changed| time::format_time(changed.moment)),
        path: shelved.path.display().to_string(),
        relevance: None,
        why: why.iter().map(why_json).collect(),
    }
}

fn why_json(why: &MatchExcerpt) -> WhyJson {
    WhyJson {
        field: why.field.clone(),
        excerpt: why.excerpt.clone(),
        marks: why.marks.iter().map(|mark| [mark.start, mark.end]).collect(),
    }
}

fn session_json(found: &FoundSession) -> SessionJson {
    SessionJson {
        client: found.client.name(),
        session: found.session.clone(),
        ended: found.ended.map(time::format_time),
        why: found.why.iter().map(why_json).collect(),
    }
}

/// A captured session that was found.
pub(crate) fn session(found: &FoundSession) -> String {
    let bold = anstyle::Style::new().bold();
    let dim = anstyle::Style::new().dimmed();
    let id = one_line(&found.session, usize::MAX);
    let day = found.ended.map(|ended| format!("  {}", ended.strftime("%Y-%m-%d %H:%M")));
    let day = day.unwrap_or_default();
    let mut out = format!("{bold}session {id}{bold:#}  {}{day}\n", found.client.name());
    for why in &found.why {
        out.push_str(&format!("  {dim}{}:{dim:#} {}\n", tame(&why.field), marked(why)));
    }
    out
}

fn status(project: &Project, shelved: &Shelved) -> String {
    let handoff = shelved.handoff(project);
    if handoff.has_status() { handoff.status().to_string() } else { "note".to_owned() }
}

pub(crate) fn text(project: &Project, found: &Found, sessions: &[FoundSession]) -> String {
    let hits = found.hits.iter().map(|hit| one(project, hit));
    hits.chain(sessions.iter().map(session)).collect::<Vec<_>>().join("\n")
}

/// One of them.
pub(crate) fn one(project: &Project, hit: &Explained) -> String {
    hit_text(project, &hit.shelved, &hit.why)
}

pub(crate) fn matters_text(project: &Project, matters: &Matters) -> String {
    let hit = |matter: &Matter| hit_text(project, &matter.shelved, &matter.why);
    matters.hits.iter().map(hit).collect::<Vec<_>>().join("\n")
}

fn hit_text(project: &Project, shelved: &Shelved, why: &[MatchExcerpt]) -> String {
    let handoff = shelved.handoff(project);
    let bold = anstyle::Style::new().bold();
    let dim = anstyle::Style::new().dimmed();
    let key = one_line(&handoff.key().to_string(), usize::MAX);
    let status = status(project, shelved);
    let title = called(&handoff, table::width().saturating_sub(key.len() + status.len() + 4));
    let mut out = format!("{bold}{key}{bold:#}  {status}  {title}\n");
    for why in why {
        out.push_str(&format!("  {dim}{}:{dim:#} {}\n", tame(&why.field), marked(why)));
    }
    out.push_str(&format!("  {dim}{}{dim:#}\n", tame(&shown_path(project, &shelved.path))));
    out
}

/// The excerpt with its words emphasised.
fn marked(why: &MatchExcerpt) -> String {
    let style = anstyle::AnsiColor::Yellow.on_default().bold();
    let mut out = if why.truncated.0 { "… ".to_owned() } else { String::new() };
    let mut from = 0;
    for mark in &why.marks {
        out.push_str(&tame(&why.excerpt[from..mark.start]));
        out.push_str(&format!("{style}{}{style:#}", tame(mark.slice(&why.excerpt))));
        from = mark.end;
    }
    out.push_str(&tame(&why.excerpt[from..]));
    if why.truncated.1 {
        out.push_str(" …");
    }
    out
}

/// What there is to say about an answer.
pub(crate) fn remarks(
    found: &Found,
    has_sessions: bool,
    words: &[String],
    has_filter: bool,
    surface: Surface,
) -> Vec<String> {
    let mut lines = Vec::new();
    if found.hits.is_empty() && found.ranked && !has_sessions {
        lines.push("No handoff or captured session has that.".to_owned());
        lines.push(to_try(words, has_filter, surface));
    }
    if found.more && surface == Surface::Typed {
        lines.push("There are more; `--limit` shows them".to_owned());
    }
    if !found.ranked {
        lines.push(
            "That is too common to rank in time: only the newest handoffs were read, those that have it \
             come first by age. Another word narrows it down"
                .to_owned(),
        );
    }
    if !found.whole {
        let unseen = "Files that an editor changed in place may not have been looked at yet";
        lines.push(match surface {
            Surface::Typed => format!("{unseen}; `--fresh` looks at all"),
            Surface::Called => unseen.to_owned(),
        });
    }
    lines
}

/// What may find something instead.
fn to_try(words: &[String], has_filter: bool, surface: Surface) -> String {
    let typed = words.join(" ").replace('"', "");
    let single: Vec<&str> = typed.split_whitespace().collect();
    if has_filter {
        return "Without the filter there may be some".to_owned();
    }
    match single.as_slice() {
        [one] if !one.ends_with('*') && one.chars().count() > PREFIX_LENGTH_MIN => {
            let letters = one.chars().count().saturating_sub(2).max(PREFIX_LENGTH_MIN);
            let begin: String = one.chars().take(letters).chain(['*']).collect();
            match surface {
                Surface::Typed => {
                    format!("Try its beginning: midstride search {}", super::shell_word(&begin))
                }
                Surface::Called => format!("Try its beginning: `{}`", tame(&begin)),
            }
        }
        [_, _, ..] => "Try fewer words: all of them have to be there".to_owned(),
        [_] | [] => match surface {
            Surface::Typed => "`midstride list --all` shows what there is".to_owned(),
            Surface::Called => "`brief` tells what is open".to_owned(),
        },
    }
}
