//! The `search` tool: finds handoffs and captured sessions by their content.

use super::{Caller, McpTool, ParameterKind, ToolArguments, ToolParameter, ToolReply};
use crate::mcp::reply::PAGE_CHARS;
use midstride::store::index::Filter;
use midstride::verbs::{self, SearchOutcome, SearchRequest};
use midstride::workspace::Workspace;
use midstride_core::brief::search::Query;
use midstride_core::format::header::Status;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{self, Surface};

pub(super) const TOOL: McpTool = McpTool {
    name: "search",
    description: "Find handoffs and captured sessions that contain all the words",
    is_read_only: true,
    parameters: &[
        ToolParameter::required(
            "words",
            ParameterKind::Text,
            "Supports `mark*` and `\"a phrase\"`",
        ),
        ToolParameter::optional("status", ParameterKind::Word(&STATUS), ""),
        ToolParameter::optional("limit", ParameterKind::Number, "Default 10"),
        ToolParameter::optional("offset", ParameterKind::Number, "Hits to skip"),
    ],
    call: search,
};

const STATUS: [&str; 5] = ["planned", "in_progress", "resolved", "superseded", "abandoned"];
const HITS_DEFAULT: usize = 10;
const HITS_MAX: usize = 100;
/// The maximum offset. To see hits beyond it, narrow the search.
const OFFSET_MAX: usize = 1_000;

fn search(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    let workspace = store.workspace();
    let words = arguments.required_text("words");
    let status = arguments.text("status").and_then(Status::parse);
    let (offset, limit) = offset_and_limit(arguments)?;
    let wanted = SearchRequest {
        query: Query::parse(words)?,
        filter: Filter { status, ..Filter::default() },
        limit: offset + limit,
        fresh: false,
    };
    let found = verbs::search(&store, &wanted, &mut |_, _| ());
    let sessions = verbs::search_sessions(&store, &wanted.query, &wanted.filter, limit)?;
    let has_sessions = !sessions.is_empty();
    let filtered = !wanted.filter.is_empty();
    let words = [words.to_owned()];
    let remarks = view::search::remarks(&found, has_sessions, &words, filtered, Surface::Tools);
    let reply = handoffs_reply(workspace, &found, offset)?;
    let reply = match sessions.is_empty() || offset > 0 {
        true => reply,
        false => {
            let texts: Vec<String> = sessions.iter().map(view::search::session_text).collect();
            let source = view::count(texts.len(), "captured session");
            reply.with_quoted_page(&source, &first_page(&texts).join("\n"), 0)?
        }
    };
    Ok(remarks.iter().fold(reply, ToolReply::with_text))
}

/// The handoffs from an offset on, as many as fit on a page.
fn handoffs_reply(
    workspace: &Workspace,
    found: &SearchOutcome,
    offset: usize,
) -> Result<ToolReply, Diagnostic> {
    let all = found.hits.len();
    if all == 0 {
        return Ok(ToolReply::default());
    }
    if offset >= all {
        let all = view::count(all, "hit");
        return Err(Diagnostic::new(format!("`offset` {offset} is past the end ({all})"))
            .hint("omit `offset` to start with the best hit"));
    }
    let hits: Vec<String> = found
        .hits
        .iter()
        .skip(offset)
        .map(|hit| view::search::search_hit_text(workspace, hit, None))
        .collect();
    let hits = first_page(&hits);
    let next = offset + hits.len();
    let source = match offset {
        0 => view::count(hits.len(), "handoff"),
        _ => format!("Handoffs {} to {next}", offset + 1),
    };
    let reply = ToolReply::default().with_quoted_page(&source, &hits.join("\n"), 0)?;
    Ok(if found.has_more || next < all { reply.with_next_offset(next) } else { reply })
}

/// The number of hits to skip and the maximum number of hits to return.
fn offset_and_limit(arguments: &ToolArguments) -> Result<(usize, usize), Diagnostic> {
    let (offset, limit) = (arguments.as_usize("offset"), arguments.as_usize("limit"));
    if limit.is_some_and(|limit| !(1..=HITS_MAX).contains(&limit)) {
        return Err(Diagnostic::new(format!("`limit` must be from 1 to {HITS_MAX}"))
            .hint(format!("omit `limit` to get {HITS_DEFAULT}; use `offset` to continue")));
    }
    if offset.is_some_and(|offset| offset > OFFSET_MAX) {
        return Err(Diagnostic::new(format!("`offset` must be at most {OFFSET_MAX}"))
            .hint("add `words` to narrow the search"));
    }
    Ok((offset.unwrap_or(0), limit.unwrap_or(HITS_DEFAULT)))
}

/// The hits that fit on a page, and always at least one.
fn first_page(hits: &[String]) -> &[String] {
    let mut chars = 0;
    let fits = |hit: &&String| {
        chars += hit.chars().count();
        chars <= PAGE_CHARS
    };
    let count = hits.iter().take_while(fits).count();
    &hits[..count.max(1)]
}
