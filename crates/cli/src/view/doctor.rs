//! How a project is set up.

use super::{count, heading, tame};
use midstride::ledger::{LedgerFacts, LedgerState, NEWEST};
use midstride::project::SetUp;
use midstride::shelf::Layout;
use midstride::verbs::{Examined, Reindexed, ShelfFacts};
use serde::Serialize;
use std::path::Path;

/// What is wrong, and what to do about it.
pub(crate) type ProblemText = (String, String);

#[derive(Serialize)]
pub(crate) struct ExaminedJson {
    root: String,
    set_up: &'static str,
    shelves: Vec<ShelfJson>,
    ledger: LedgerJson,
    index: IndexJson,
    problems: Vec<ProblemJson>,
}

#[derive(Serialize)]
struct ShelfJson {
    path: String,
    layout: &'static str,
    documents: Option<usize>,
}

#[derive(Serialize)]
struct LedgerJson {
    path: String,
    version: Option<u32>,
    records: Option<usize>,
    put_aside: usize,
    forgotten: usize,
}

#[derive(Serialize)]
struct IndexJson {
    path: String,
    documents: Option<usize>,
    bytes: u64,
    age_seconds: Option<u64>,
}

#[derive(Serialize)]
struct ProblemJson {
    message: String,
    hint: String,
}

pub(crate) fn json(examined: &Examined, problems: &[ProblemText]) -> ExaminedJson {
    let Examined { ledger, index, .. } = examined;
    let (version, records) = match &ledger.state {
        LedgerState::Fine { version, records } => (Some(*version), Some(*records)),
        LedgerState::Newer { version } => (Some(*version), None),
        LedgerState::Missing | LedgerState::Unusable(_) => (None, None),
    };
    let shelf = |shelf: &ShelfFacts| ShelfJson {
        path: shelf.path.display().to_string(),
        layout: layout(shelf.layout),
        documents: shelf.documents.as_ref().ok().copied(),
    };
    let problem = |(message, hint): &ProblemText| ProblemJson {
        message: message.clone(),
        hint: hint.clone(),
    };
    ExaminedJson {
        root: examined.root.display().to_string(),
        set_up: set_up(examined.set_up),
        shelves: examined.shelves.iter().map(shelf).collect(),
        ledger: LedgerJson {
            path: ledger.path.display().to_string(),
            version,
            records,
            put_aside: ledger.put_aside,
            forgotten: examined.forgotten,
        },
        index: IndexJson {
            path: index.path.display().to_string(),
            documents: index.documents,
            bytes: index.bytes,
            age_seconds: index.age.map(|age| age.as_secs()),
        },
        problems: problems.iter().map(problem).collect(),
    }
}

fn set_up(how: SetUp) -> &'static str {
    match how {
        SetUp::Not => "not",
        SetUp::Committed => "committed",
        SetUp::Private => "private",
    }
}

fn layout(layout: Layout) -> &'static str {
    match layout {
        Layout::Own => "own",
        Layout::Pipeline => "pipeline",
        Layout::Folder => "folder",
        Layout::Memory => "memory",
    }
}

pub(crate) fn text(examined: &Examined) -> String {
    let set_up = match examined.set_up {
        SetUp::Not => "not set up; what lies around is read all the same",
        SetUp::Committed => "set up, with a folder that is committed",
        SetUp::Private => "set up privately: nothing is committed",
    };
    let mut out = heading("Project");
    out.push_str(&format!("  {}\n  {set_up}\n", path(&examined.root)));
    out.push_str(&heading("Shelves"));
    for shelf in &examined.shelves {
        let documents = match &shelf.documents {
            Ok(number) => count(*number, "document"),
            Err(_) => "cannot be looked at".to_owned(),
        };
        out.push_str(&format!("  {}  {documents}\n", path(&shelf.path)));
    }
    out.push_str(&heading("Ledger"));
    out.push_str(&format!("  {}\n  {}\n", path(&examined.ledger.path), ledger(&examined.ledger)));
    if examined.forgotten > 0 {
        out.push_str(&format!("  {} forgotten\n", count(examined.forgotten, "text")));
    }
    out.push_str(&heading("Index"));
    out.push_str(&format!("  {}\n  {}\n", path(&examined.index.path), index(examined)));
    out
}

fn path(path: &Path) -> String {
    tame(&path.display().to_string())
}

fn ledger(facts: &LedgerFacts) -> String {
    let state = match &facts.state {
        LedgerState::Missing => "not there yet; the first change makes it".to_owned(),
        LedgerState::Fine { version, records } => {
            format!("version {version}, {}", count(*records, "record"))
        }
        LedgerState::Newer { version } => {
            format!("version {version}, which a newer midstride made; this one knows {NEWEST}")
        }
        LedgerState::Unusable(why) => format!("cannot be used: {why}"),
    };
    match facts.put_aside {
        0 => state,
        some => format!("{state}, {} put aside for it", count(some, "file")),
    }
}

fn index(examined: &Examined) -> String {
    const MEGABYTE: u64 = 1 << 20;
    match examined.index.documents {
        None => "not there yet; the first search makes it".to_owned(),
        Some(0) => "nothing is in it yet; the first search fills it".to_owned(),
        Some(documents) => {
            let size = examined.index.bytes.div_ceil(MEGABYTE);
            let age = examined.index.age.map_or(0, |age| age.as_secs() / 86_400);
            let age = if age == 0 {
                "today".to_owned()
            } else {
                format!("{} ago", count(usize::try_from(age).unwrap_or(usize::MAX), "day"))
            };
            format!("{}, {size} MB, changed {age}", count(documents, "document"))
        }
    }
}

pub(crate) fn reindexed(done: &Reindexed) -> String {
    let gone = match done.removed {
        0 => String::new(),
        some => format!(", {} of worktrees that are gone removed", count(some, "index")),
    };
    format!("Indexed {}{gone}", count(done.documents, "document"))
}

/// What is wrong, and what to do about it.
pub(crate) fn problems(examined: &Examined) -> Vec<ProblemText> {
    let mut found = Vec::new();
    let mut tell = |message: String, hint: String| found.push((message, hint));
    if examined.set_up == SetUp::Not {
        let hint = "`midstride init` sets it up; `midstride init --private` commits nothing";
        tell("this project is not set up".to_owned(), hint.to_owned());
    }
    for text in &examined.not_read {
        tell(
            text.clone(),
            "`midstride trust` shows what it would do; or mend the configuration".to_owned(),
        );
    }
    for error in examined.shelves.iter().filter_map(|shelf| shelf.documents.as_ref().err()) {
        tell(error.to_string(), error.hint().unwrap_or("see what is there").to_owned());
    }
    let ledger = &examined.ledger;
    match &ledger.state {
        LedgerState::Newer { version } => tell(
            format!(
                "`{}` is of version {version}; this midstride knows {NEWEST}",
                ledger.path.display()
            ),
            "update midstride; the ledger is left as it is".to_owned(),
        ),
        LedgerState::Unusable(why) => {
            let path = ledger.path.display();
            let hint = format!(
                "move `{path}` away: what the documents tell is told again; tasks come with \
                 `midstride sync`"
            );
            tell(why.clone(), hint);
        }
        LedgerState::Missing | LedgerState::Fine { .. } => {}
    }
    if ledger.unreadable > 0 {
        let hint = format!("look at what lies in `{}`", ledger.spool.display());
        tell(
            format!("{} put aside for the ledger cannot be read", count(ledger.unreadable, "file")),
            hint,
        );
    }
    found
}
