//! Find handoffs by what they say.

use super::{Arguments, Caller, Kind, Parameter, Reply, Tool};
use crate::diagnostic::Diagnostic;
use crate::mcp::reply::PAGE_CHARS;
use crate::view::{self, Surface};
use midstride::index::Filter;
use midstride::verbs::{self, Search};
use midstride_core::header::Status;
use midstride_core::search::Query;

pub(super) const TOOL: Tool = Tool {
    name: "search",
    says: "Find handoffs; all words have to be there",
    only_reads: true,
    parameters: &[
        Parameter::needed("words", Kind::Text, "`mark*` and `\"a phrase\"` work"),
        Parameter::new("status", Kind::Word(&STATUS), ""),
        Parameter::new("limit", Kind::Number, "Default 10"),
        Parameter::new("offset", Kind::Number, "Hits to pass over"),
    ],
    call: search,
};

const STATUS: [&str; 5] = ["planned", "in_progress", "resolved", "superseded", "abandoned"];
const HITS: usize = 10;
const HITS_MAX: usize = 100;
/// Whoever looks behind so many needs other words.
const OFFSET_MAX: usize = 1_000;

fn search(caller: &Caller, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    let project = caller.project()?;
    let words = arguments.needed("words");
    let status = arguments.text("status").and_then(Status::read);
    let (offset, limit) = place(arguments)?;
    let wanted = Search {
        query: Query::read(words)?,
        filter: Filter { status, ..Filter::default() },
        limit: offset + limit,
        fresh: false,
    };
    let found = verbs::search(&project, &wanted, &mut |_, _| ());
    let remarks =
        view::search::remarks(&found, &[words.to_owned()], status.is_some(), Surface::Called);
    if found.hits.is_empty() {
        return Ok(remarks.iter().fold(Reply::default(), Reply::and));
    }
    let all = found.hits.len();
    if offset >= all {
        let all = view::count(all, "hit");
        return Err(Diagnostic::new(format!("`offset` {offset} is behind the last of {all}"))
            .hint("leave `offset` out to begin with the best"));
    }
    let hits: Vec<String> =
        found.hits.iter().skip(offset).map(|hit| view::search::one(&project, hit)).collect();
    let hits = fitting(&hits);
    let next = offset + hits.len();
    let source = match offset {
        0 => view::count(hits.len(), "handoff"),
        _ => format!("Handoffs {} to {next}", offset + 1),
    };
    let reply = Reply::default().carries(&source, &hits.join("\n"), 0)?;
    let reply = remarks.iter().fold(reply, Reply::and);
    Ok(if found.more || next < all { reply.goes_on_at(next) } else { reply })
}

/// How many hits are passed over, and how many are wanted.
fn place(arguments: &Arguments) -> Result<(usize, usize), Diagnostic> {
    let (offset, limit) = (arguments.place("offset"), arguments.place("limit"));
    if limit.is_some_and(|limit| !(1..=HITS_MAX).contains(&limit)) {
        return Err(Diagnostic::new(format!("`limit` is from 1 to {HITS_MAX}"))
            .hint(format!("leave it out for {HITS}; `offset` reads on")));
    }
    if offset.is_some_and(|offset| offset > OFFSET_MAX) {
        return Err(Diagnostic::new(format!("`offset` is at most {OFFSET_MAX} hits"))
            .hint("more `words` narrow it down"));
    }
    Ok((offset.unwrap_or(0), limit.unwrap_or(HITS)))
}

/// As many as fit on a page, and one at least.
fn fitting(hits: &[String]) -> &[String] {
    let mut chars = 0;
    let fits = |hit: &&String| {
        chars += hit.chars().count();
        chars <= PAGE_CHARS
    };
    let count = hits.iter().take_while(fits).count();
    &hits[..count.max(1)]
}
